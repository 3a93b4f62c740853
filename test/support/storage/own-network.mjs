/**
 * Runs a command in a network of its own, which whoever starts this has made: the grid is on its port there, and what
 * the command listens to on `port` is at storage.sock outside. Arguments: directory of the sockets, the grid's port,
 * `port`, the command.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { bridge } from './bridge.mjs';

const [directory, gridPort, port, ...command] = process.argv.slice(2);
await bridge(Number(gridPort), join(directory, 'grid.sock'));
await bridge(join(directory, 'storage.sock'), Number(port));
const child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', ...command], { stdio: 'inherit' });
process.on('SIGTERM', () => child.kill('SIGKILL'));
child.on('exit', (code) => process.exit(code ?? 1));
