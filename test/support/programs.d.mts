/** All paths at which there is a program of this name, in the order of PATH. */
export function programPaths(name: string): string[];

/** The first of them; undefined: there is none. */
export function programPath(name: string): string | undefined;

/** Where the programs of the newest PostgreSQL of the distribution are, or those of PATH; undefined: none is installed. */
export function postgresPrograms(): string | undefined;
