/** Lists the stalls of the servers that kept them in the directory. Throws at night when there are any. */
export function judgeStalls(directory: string): void;
