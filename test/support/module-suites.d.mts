/** The specs of each module, paths from the project's folder. */
export function moduleSpecs(): Map<string, string[]>;

/** The api suites that run together, by the names of the first and the last one. */
export function apiSuites(): Map<string, string[]>;

/** Writes the suites anew. */
export function writeModuleSuites(): void;
