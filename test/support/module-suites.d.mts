/** The specs of each module, paths from the project's folder. */
export function moduleSpecs(): Map<string, string[]>;

/** Writes the suites anew. */
export function writeModuleSuites(): void;
