/** Free loopback ports, all different, outside of what the kernel gives away by itself. */
export function freePorts(count: number): Promise<number[]>;

/** One of them. */
export function freePort(): Promise<number>;
