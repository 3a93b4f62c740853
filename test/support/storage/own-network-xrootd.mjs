#!/usr/bin/env node
/**
 * Stands for xrootd where a page starts it: xrootd cannot be told to listen on loopback alone, so it runs in a network of its
 * own, and a bridge carries its port. Arguments: those of xrootd; GRID_PORT is the port of the grid.
 */
import { spawn } from 'node:child_process';
import { appendFileSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bridge } from './bridge.mjs';

const words = process.argv.slice(2);
const file = words[words.indexOf('-c') + 1];
const [, port] = /^xrd\.port (\d+)$/m.exec(readFileSync(file, 'utf8'));
const gridPort = process.env['GRID_PORT'];
const sockets = dirname(file); // which goes with the page, however this ends
appendFileSync(file, '\nxrd.network nodnr norpipa\n'); // there is no name service in its network
await bridge(join(sockets, 'grid.sock'), Number(gridPort));
await bridge(Number(port), join(sockets, 'storage.sock'));
const network = ['--dev-bind', '/', '/', '--unshare-net', '--die-with-parent', '--'];
const inside = fileURLToPath(new URL('own-network.mjs', import.meta.url));
const command = [process.execPath, inside, sockets, gridPort, port, '/usr/bin/xrootd', ...words];
const child = spawn('bwrap', [...network, ...command], { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill('SIGKILL'));
child.on('exit', (code) => process.exit(code ?? 1));
