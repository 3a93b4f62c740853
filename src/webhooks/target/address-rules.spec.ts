import { AddressRules } from './address-rules.js';

const rules = new AddressRules([]);

/**
 * The special-purpose address registries of IANA (RFC 6890, RFC 8190), and what the registries of the address spaces give to
 * nobody: multicast, and of IPv6 all beside 2000::/3.
 */
const SPECIAL = [
  ['0.0.0.0/8', 'RFC 791'],
  ['10.0.0.0/8', 'RFC 1918'],
  ['100.64.0.0/10', 'RFC 6598'],
  ['127.0.0.0/8', 'RFC 1122'],
  ['169.254.0.0/16', 'RFC 3927'],
  ['172.16.0.0/12', 'RFC 1918'],
  ['192.0.0.0/24', 'RFC 6890'],
  ['192.0.0.0/29', 'RFC 7335'],
  ['192.0.0.8/32', 'RFC 7600'],
  ['192.0.0.9/32', 'RFC 7723'],
  ['192.0.0.10/32', 'RFC 8155'],
  ['192.0.0.170/31', 'RFC 7050'],
  ['192.0.2.0/24', 'RFC 5737'],
  ['192.31.196.0/24', 'RFC 7535'],
  ['192.52.193.0/24', 'RFC 7450'],
  ['192.88.99.0/24', 'RFC 7526'],
  ['192.168.0.0/16', 'RFC 1918'],
  ['192.175.48.0/24', 'RFC 7534'],
  ['198.18.0.0/15', 'RFC 2544'],
  ['198.51.100.0/24', 'RFC 5737'],
  ['203.0.113.0/24', 'RFC 5737'],
  ['224.0.0.0/4', 'RFC 5771'],
  ['240.0.0.0/4', 'RFC 1112'],
  ['255.255.255.255/32', 'RFC 919'],
  ['::/128', 'RFC 4291'],
  ['::1/128', 'RFC 4291'],
  ['::ffff:0:0/96', 'RFC 4291'],
  ['64:ff9b::/96', 'RFC 6052'],
  ['64:ff9b:1::/48', 'RFC 8215'],
  ['100::/64', 'RFC 6666'],
  ['100:0:0:1::/64', 'RFC 9780'],
  ['::/3', 'RFC 4291'],
  ['2001::/23', 'RFC 2928'],
  ['2001::/32', 'RFC 4380'],
  ['2001:1::1/128', 'RFC 7723'],
  ['2001:1::2/128', 'RFC 8155'],
  ['2001:1::3/128', 'RFC 9665'],
  ['2001:2::/48', 'RFC 5180'],
  ['2001:3::/32', 'RFC 7450'],
  ['2001:4:112::/48', 'RFC 7535'],
  ['2001:10::/28', 'RFC 4843'],
  ['2001:20::/28', 'RFC 7343'],
  ['2001:30::/28', 'RFC 9374'],
  ['2001:db8::/32', 'RFC 3849'],
  ['2002::/16', 'RFC 3056'],
  ['2620:4f:8000::/48', 'RFC 7534'],
  ['3fff::/20', 'RFC 9637'],
  ['4000::/2', 'RFC 4291'],
  ['5f00::/16', 'RFC 9602'],
  ['8000::/1', 'RFC 4291'],
  ['fc00::/7', 'RFC 4193'],
  ['fe80::/10', 'RFC 4291'],
  ['fec0::/10', 'RFC 3879'],
  ['ff00::/8', 'RFC 4291'],
] as const;

/** The first and the last address of a network, as numbers of so many bits. */
function rangeOf(network: string): { bits: bigint; first: bigint; last: bigint } {
  const [address = '', prefix = ''] = network.split('/');
  const [bits, partBits] = address.includes('.') ? [32n, 8n] : [128n, 16n];
  const first = partsOf(address).reduce((all, part) => (all << partBits) + BigInt(part), 0n);
  return { bits, first, last: first + (1n << (bits - BigInt(prefix))) - 1n };
}

function partsOf(address: string): number[] {
  if (address.includes('.')) return address.split('.').map(Number);
  const [head = [], tail = []] = address
    .split('::')
    .map((half) => half.split(':').filter((group) => group !== ''));
  const zeros = Array<string>(8 - head.length - tail.length).fill('0');
  return [...head, ...zeros, ...tail].map((group) => parseInt(group, 16));
}

function addressOf(number: bigint, bits: bigint): string {
  const hex = number.toString(16).padStart(Number(bits / 4n), '0');
  if (bits === 128n) return hex.match(/.{4}/g)!.join(':');
  return hex
    .match(/../g)!
    .map((part) => parseInt(part, 16))
    .join('.');
}

const ranges = SPECIAL.map(([network]) => rangeOf(network));

function isSpecial(number: bigint, bits: bigint): boolean {
  return ranges.some((one) => one.bits === bits && one.first <= number && number <= one.last);
}

describe('addresses of receivers', () => {
  it.each(SPECIAL)(
    'are not in %s (%s), and may be beside it where nothing else forbids',
    (network) => {
      const { bits, first, last } = rangeOf(network);
      const asked = [first - 1n, first, last, last + 1n]
        .filter((number) => number >= 0n && number < 1n << bits)
        .map((number) => [addressOf(number, bits), !isSpecial(number, bits)] as const);
      expect(asked.map(([address]) => [address, rules.allows(address)])).toEqual(asked);
    },
  );

  it.each([
    '168.63.129.16',
    '0:0:0:0:0:0:0:1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:169.254.169.254',
    '::ffff:0:127.0.0.1',
    '64:ff9b::127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b::a00:0',
    '64:ff9b::1',
    '64:ff9b:1::8.8.8.8',
    'fe80::1%eth0',
    '',
    'localhost',
    '127.1',
    '2130706433',
  ])('%s is refused', (address) => {
    expect(rules.allows(address)).toBe(false);
  });

  it.each(['168.63.129.15', '168.63.129.17', '64:ff9b::8.8.8.8', '64:ff9b::808:808'])(
    '%s is allowed',
    (address) => {
      expect(rules.allows(address)).toBe(true);
    },
  );

  it('has exceptions, in every notation of them, and nothing beside', () => {
    const some = new AddressRules(['127.0.0.1', '10.1.0.0/16', 'fd00:1::/32']);
    const asked = ['127.0.0.1', '::ffff:127.0.0.1', '10.1.2.3', 'fd00:1::5'];
    expect(asked.map((address) => some.allows(address))).toEqual([true, true, true, true]);
    const others = ['127.0.0.2', '10.2.0.1', '64:ff9b::127.0.0.1', 'fd00:2::5', undefined];
    expect(others.map((address) => some.allows(address))).toEqual(others.map(() => false));
  });

  it('refuses an exception that is a name', () => {
    expect(() => new AddressRules(['receiver.example'])).toThrow('is no address or network');
  });
});
