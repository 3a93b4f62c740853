import { isIP } from 'node:net';
import { AddressList } from '#src/kernel/index.js';

/**
 * Networks that are nobody's on the internet (IANA special-purpose registries of IPv4 and IPv6), and two addresses of
 * metadata services that look public.
 */
const NOT_PUBLIC = AddressList.parse([
  '0.0.0.0/8', // this network
  '10.0.0.0/8',
  '100.64.0.0/10', // shared by carriers; 100.100.100.200 tells Alibaba's machines who they are
  '127.0.0.0/8',
  '169.254.0.0/16', // link-local; 169.254.169.254 is the metadata service of most clouds
  '172.16.0.0/12',
  '192.0.0.0/24', // protocol assignments; 192.0.0.192 is Oracle's metadata service
  '192.0.2.0/24',
  '192.31.196.0/24', // AS112: a site's own name server, where it has one
  '192.52.193.0/24', // relays of multicast
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16',
  '192.175.48.0/24', // AS112
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4', // reserved, and broadcast
  '168.63.129.16', // what Azure's machines ask
  '2001::/23', // protocol assignments, Teredo among them, which carries IPv4 addresses
  '2001:db8::/32',
  '2002::/16', // 6to4 carries IPv4 addresses
  '2620:4f:8000::/48', // AS112
  '3fff::/20',
]);

/** All of IPv6 that is given to anybody; loopback, mapped, unique local, link-local, multicast are outside. */
const GLOBAL_6 = AddressList.parse(['2000::/3']);

/** Where names of IPv4 hosts lead in networks without IPv4 (RFC 6052): the last 32 bits are the host. */
const NAT64 = AddressList.parse(['64:ff9b::/96']);

/** Which addresses deliveries may be sent to: public ones, and the exceptions of GRID_WEBHOOK_ALLOW. */
export class AddressRules {
  private readonly allowed: AddressList;

  /** Throws when an exception is neither an address nor a network. */
  constructor(exceptions: readonly string[]) {
    this.allowed = AddressList.parse(exceptions);
  }

  /** Whether a connection to the address is allowed; false for what is no address. */
  allows(address: string | undefined): boolean {
    if (address === undefined || isIP(address) === 0) return false;
    return this.allowed.contains(address) || isPublic(address);
  }
}

function isPublic(address: string): boolean {
  if (isIP(address) === 4) return !NOT_PUBLIC.contains(address);
  if (NAT64.contains(address)) return isPublic(lastBits(address));
  return GLOBAL_6.contains(address) && !NOT_PUBLIC.contains(address);
}

/** The IPv4 address in the last 32 bits of `64:ff9b::…`, whose run of zeros is always the one that is left out. */
function lastBits(address: string): string {
  const { hostname } = new URL(`http://[${address}]/`);
  const groups = (hostname.slice(1, -1).split('::')[1] ?? '').split(':');
  const [low = 0, high = 0] = groups.reverse().map((group) => Number.parseInt(group || '0', 16));
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
}
