import { call, harmIf, perl } from './shell.mjs';

const OWN = 'its network is its own and empty';
const SHARED = 'the network is the machine’s';

const connects = (address, port) =>
  perl(
    `use IO::Socket::INET; print "HARM\\n" if IO::Socket::INET->new(PeerAddr => "${address}", PeerPort => ${port}, Timeout => 2)`,
  );
/** Connects to a Unix socket; `~` stands for the zero byte of an abstract name. */
const connectsUnix = (name) =>
  perl(
    'use Socket; socket($s, AF_UNIX, SOCK_STREAM, 0); ' +
      `($n = "${name}") =~ s/^~/\\0/; ` +
      'print "HARM\\n" if connect($s, pack("S a*", AF_UNIX, $n))',
  );

/** Ways out over a network, or to a program of the machine that listens. */
export const NETWORK = [
  {
    thing: 'reach the service over loopback',
    sentence: OWN,
    script: ({ port }) => connects('127.0.0.1', port),
    leaks: { accounts: SHARED, none: SHARED },
  },
  {
    thing: 'reach the database over loopback',
    sentence: OWN,
    script: ({ databasePort }) => connects('127.0.0.1', databasePort),
    leaks: {
      accounts: `${SHARED}; it asks for a password`,
      none: `${SHARED}; it asks for a password`,
    },
  },
  {
    thing: 'have a way to the addresses where clouds tell secrets (169.254.169.254)',
    sentence: OWN,
    needs: 'route',
    script: () =>
      perl(
        'use IO::Socket::INET; print "HARM\\n" if IO::Socket::INET->new(Proto => "udp", PeerAddr => "169.254.169.254", PeerPort => 80)',
      ),
    leaks: { accounts: SHARED, none: SHARED },
  },
  {
    thing: 'see the network devices of the machine',
    sentence: OWN,
    needs: 'network device',
    script: () => harmIf('[ "$(grep -c : /proc/net/dev)" -gt 1 ]'),
    leaks: { accounts: SHARED, none: SHARED },
  },
  {
    thing: 'reach an abstract socket of the machine, as X11 and D-Bus have them',
    sentence: 'these names belong to a network, and its network is its own',
    script: ({ abstract }) => connectsUnix(`~${abstract}`),
    leaks: { accounts: SHARED, none: SHARED },
  },
  {
    thing: 'reach an abstract socket of a neighbour',
    sentence: 'these names belong to a network, and its network is its own',
    script: ({ neighbour }) => connectsUnix(`~${neighbour.abstract}`),
    leaks: { accounts: SHARED, none: SHARED },
  },
  {
    thing: 'reach a socket in the file system that everybody may write',
    sentence: 'only system directories are shown',
    script: ({ open }) => connectsUnix(open.socket),
    leaks: { accounts: 'what everybody may write', none: 'what everybody may write' },
  },
  {
    thing: 'speak to the service as its worker, over their socket',
    sentence: 'it is in a directory of the service’s account, and not in what the job sees',
    needs: 'worker of the service',
    script: ({ home }) => connectsUnix(`${home}/worker/socket`),
    leaks: { none: 'yes: the service has the same account' },
  },
  {
    thing: 'speak to whoever runs the virtual machine (vsock)',
    sentence: 'the filter of system calls knows no such sockets',
    needs: 'vsock',
    script: () => perl(`print "HARM\\n" if ${call('socket', '40, 1, 0')} >= 0`),
    leaks: { none: 'yes' },
    isByFilter: true,
  },
  {
    thing: 'listen to what passes on the wire',
    sentence: 'that is root’s',
    script: () =>
      perl(
        `print "HARM\\n" if ${call('socket', '17, 3, 768')} >= 0 || ${call('socket', '2, 3, 1')} >= 0`,
      ),
  },
];
