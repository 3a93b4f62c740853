import { BlockList, isIP } from 'node:net';

/** An entry of the list is neither an address nor a network; the message names it. */
class AddressListError extends Error {
  constructor(entry: string, problem: string) {
    super(`"${entry}" ${problem}; expected are addresses and networks such as 10.0.0.0/8, ::1`);
    this.name = 'AddressListError';
  }
}

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
const MAPPED_HEX = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i;
/** Addresses of version 4 that a gateway shows as version 6 (RFC 6052 §2.1). */
const TRANSLATED = /^64:ff9b::(?=[0-9a-f]{1,4}:[0-9a-f]{1,4}$|\d+\.\d+\.\d+\.\d+$)/i;

/** A list of addresses and networks, version 4 and 6; `::ffff:10.0.0.1` is the same as `10.0.0.1`. */
export class AddressList {
  private constructor(
    private readonly blocks: BlockList,
    /** How many entries there are; 0 contains nothing. */
    readonly size: number,
  ) {}

  /** Reads entries separated by commas or blanks. Throws AddressListError; host names are not resolved. */
  static parse(entries: string | readonly string[]): AddressList {
    const list = typeof entries === 'string' ? entries.split(/[\s,]+/) : [...entries];
    const wanted = list.map((entry) => entry.trim()).filter((entry) => entry !== '');
    const blocks = new BlockList();
    for (const entry of wanted) addEntry(blocks, entry);
    return new AddressList(blocks, wanted.length);
  }

  /** Whether the peer address of a socket is in the list; false for undefined (a closed or unix socket). */
  contains(address: string | undefined): boolean {
    if (address === undefined || this.size === 0) return false;
    const plain = unmapped(address.split('%', 1)[0] ?? '');
    const version = isIP(plain);
    return version !== 0 && this.blocks.check(plain, version === 4 ? 'ipv4' : 'ipv6');
  }
}

/**
 * Who is counted as one caller by the address: of version 6 the network of 64 bits, all of which one line of a provider has;
 * of version 4, also as `::ffff:10.0.0.1` and as a gateway's `64:ff9b::10.0.0.1` (RFC 6052), the address. Anything else stays
 * as it is.
 */
export function callerNetwork(address: string): string {
  const bare = address.split('%', 1)[0] ?? '';
  const plain = unmapped(isIP(bare) === 6 ? bare.replace(TRANSLATED, '::ffff:') : bare);
  if (isIP(plain) !== 6) return plain;
  const [head = [], tail] = plain
    .split('::', 2)
    .map((part) => (part === '' ? [] : part.split(':')));
  const groups = tail === undefined ? head : [...head, ...zerosBetween(head, tail), ...tail];
  const network = groups.slice(0, 4).map((group) => parseInt(group, 16).toString(16));
  return `${network.join(':')}::/64`;
}

function zerosBetween(head: readonly string[], tail: readonly string[]): string[] {
  const dotted = tail.at(-1)?.includes('.') ? 1 : 0; // 1.2.3.4 at the end stands for two groups
  return Array<string>(8 - head.length - tail.length - dotted).fill('0');
}

function addEntry(blocks: BlockList, entry: string): void {
  const [written = '', prefix, ...more] = entry.split('/');
  const bare = written.replace(/^\[(.*)\]$/, '$1');
  const address = unmapped(bare);
  const version = isIP(address);
  if (version === 0 || more.length > 0)
    throw new AddressListError(entry, 'is no address or network');
  const family = version === 4 ? 'ipv4' : 'ipv6';
  if (prefix === undefined) {
    blocks.addAddress(address, family);
    return;
  }
  const isMapped = version === 4 && isIP(bare) === 6;
  const bits = /^\d{1,3}$/.test(prefix) ? Number(prefix) - (isMapped ? 96 : 0) : -1;
  if (bits < 0 || bits > (version === 4 ? 32 : 128)) {
    throw new AddressListError(entry, 'has no valid prefix length');
  }
  blocks.addSubnet(address, bits, family);
}

function unmapped(address: string): string {
  const dotted = MAPPED.exec(address)?.[1];
  if (dotted !== undefined) return dotted;
  const hex = MAPPED_HEX.exec(address);
  if (hex === null) return address;
  const [high = 0, low = 0] = hex.slice(1).map((digits) => parseInt(digits, 16));
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
}
