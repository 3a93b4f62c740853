/** The number of a system call on this machine. */
export function number(name: string): number;
