import { createSocket } from 'node:dgram';
import { isIP } from 'node:net';

/** Addresses of a name, asked for the n-th time. */
export type Zone = (name: string, turn: number) => string[];

/** A name server on loopback that says what a test wants. */
export interface NameServer {
  /** `127.0.0.1:<port>` */
  address: string;
  /** Names that were asked for their IPv4 addresses, in order. */
  asked: string[];
  close(): Promise<void>;
}

const A = 1;
const AAAA = 28;
const HEADER_BYTES = 12;

/** Starts it; names without addresses do not exist. */
export async function startNameServer(zone: Zone): Promise<NameServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (question, peer) => {
    const { name, type, end } = readQuestion(question);
    const turn = asked.filter((one) => one === name).length - (type === AAAA ? 1 : 0);
    if (type === A) asked.push(name);
    const all = zone(name, Math.max(turn, 0));
    const fitting = all.filter((address) => isIP(address) === (type === A ? 4 : 6));
    socket.send(answerTo(question.subarray(0, end), fitting, type, all.length > 0), peer.port);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const { port } = socket.address();
  const close = (): Promise<void> => new Promise((resolve) => socket.close(() => resolve()));
  return { address: `127.0.0.1:${port}`, asked, close };
}

function readQuestion(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('ascii', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
}

/** RFC 1035: the question again, and a record for each address; NXDOMAIN for unknown names. */
function answerTo(question: Buffer, addresses: string[], type: number, isKnown: boolean): Buffer {
  const head = Buffer.from(question);
  head.writeUInt16BE(isKnown ? 0x8180 : 0x8183, 2);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt32BE(0, 8);
  const records = addresses.map((address) => {
    const data = bytesOf(address);
    const record = Buffer.alloc(12);
    record.writeUInt16BE(0xc00c, 0); // the name of the question
    record.writeUInt16BE(type, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt16BE(data.length, 10);
    return Buffer.concat([record, data]);
  });
  return Buffer.concat([head, ...records]);
}

function bytesOf(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  const { hostname } = new URL(`http://[${address}]`);
  const [left = '', right = ''] = hostname.slice(1, -1).split('::');
  const groupsOf = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const [before, after] = [groupsOf(left), groupsOf(right)];
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  const groups = [...before, ...zeros, ...after];
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex');
}
