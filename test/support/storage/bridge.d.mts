import type { Server } from 'node:net';

export function bridge(at: number | string, to: number | string): Promise<Server>;
