/** Where a level does not stop a program, and so the page about it says so. */
export type Leak = 'accounts';

/** A program that tries to do harm: it prints HARM when it could. */
export interface HostileProgram {
  name: string;
  script: string;
  leaks?: Leak;
}

/** What programs know of the machine that they attack. */
export interface Target {
  home: string;
  server: number;
  port: string;
  /** A neighbour's running job: directory of its run, and pid of its program. */
  neighbour: { directory: string; pid: number };
}

const perl = (code: string): string => `perl -e '${code}'`;
const harmIf = (command: string): string => `if ${command}; then echo HARM; fi 2>/dev/null`;
const syscall = (numbers: string): string => perl(`print "HARM\\n" if syscall(${numbers}) >= 0`);

/** Programs, one line each in the page `what a job can and cannot do`. */
export function hostilePrograms(target: Target): HostileProgram[] {
  const { home, server, port, neighbour } = target;
  return [
    { name: 'read the key of the CA', script: harmIf(`cat ${home}/pki/ca.key`) },
    { name: 'list the home of the service', script: harmIf(`ls ${home}/jobs ${home}/pki/*`) },
    { name: 'read the accounts of the machine', script: harmIf('cat /etc/shadow') },
    { name: 'write into the system', script: harmIf('touch /usr/bin/x || touch /etc/x') },
    { name: 'be root', script: harmIf('[ "$(id -u)" = 0 ]') },
    {
      name: 'have a right that root has',
      script: harmIf('! grep -q "^CapBnd:.0000000000000000" /proc/self/status'),
    },
    {
      name: 'gain rights by a setuid program',
      script: harmIf('! grep -q "^NoNewPrivs:.1" /proc/self/status'),
    },
    {
      name: 'see processes of the service',
      script: harmIf(`[ "$(cat /proc/${server}/comm)" = node ]`),
      leaks: 'accounts',
    },
    { name: 'read the environment of the service', script: harmIf(`cat /proc/${server}/environ`) },
    {
      name: 'read any environment with secrets',
      script: harmIf('grep -alE "GRID_HOME=|DATABASE_URL=" /proc/[0-9]*/environ'),
    },
    { name: 'read the memory of the service', script: harmIf(`head -c1 /proc/${server}/mem`) },
    { name: 'go through the root of the service', script: harmIf(`ls /proc/${server}/root/`) },
    { name: 'look at descriptors of the service', script: harmIf(`ls /proc/${server}/fd/`) },
    { name: 'signal the service', script: harmIf(`kill -0 ${server}`) },
    { name: 'signal a neighbour', script: harmIf(`kill -0 ${neighbour.pid}`) },
    {
      name: 'signal its supervisor',
      script: harmIf(
        '[ "$PPID" != 0 ] && kill -CONT $PPID && [ "$(id -u)" != "$(stat -c %u /proc/$PPID)" ]',
      ),
    },
    {
      name: 'trace the service',
      script: perl(`print "HARM\\n" if syscall(101, 16, ${server}, 0, 0) == 0`),
    },
    {
      name: 'trace a neighbour',
      script: perl(`print "HARM\\n" if syscall(101, 16, ${neighbour.pid}, 0, 0) == 0`),
    },
    { name: 'read the files of a neighbour', script: harmIf(`ls ${neighbour.directory}/work/`) },
    {
      name: 'read the launch script of a neighbour',
      script: harmIf(`cat ${neighbour.directory}/launch`),
    },
    {
      name: 'write the output of a neighbour',
      script: harmIf(`echo forged >>${neighbour.directory}/out`),
    },
    { name: 'forge the end of its run', script: harmIf('echo "0 end" >../exit') },
    {
      name: 'take the place of its own run',
      script: harmIf('mv ../work ../elsewhere || touch ../new'),
    },
    {
      name: 'reach the service over loopback',
      script: perl(
        `use IO::Socket::INET; print "HARM\\n" if IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => ${port}, Timeout => 2)`,
      ),
      leaks: 'accounts',
    },
    {
      name: 'see the network devices of the machine',
      script: harmIf('[ "$(grep -c : /proc/net/dev)" -gt 1 ]'),
      leaks: 'accounts',
    },
    { name: 'make a user namespace', script: harmIf('unshare --user true'), leaks: 'accounts' },
    { name: 'mount', script: harmIf('mount -t tmpfs none /tmp') },
    { name: 'reach kernel keyrings', script: syscall('250, 0, -5, 0'), leaks: 'accounts' },
    {
      name: 'make an io_uring',
      script: perl('$p = "\\0" x 120; print "HARM\\n" if syscall(425, 1, $p) >= 0'),
      leaks: 'accounts',
    },
    {
      name: 'load a program into the kernel',
      script: perl('$p = "\\0" x 120; print "HARM\\n" if syscall(321, 5, $p, 120) >= 0'),
    },
    { name: 'make a device', script: harmIf('mknod d b 254 0') },
    {
      name: 'read the disk',
      script: harmIf('head -c1 /dev/vda || head -c1 /dev/sda || head -c1 /dev/mem'),
    },
    {
      name: 'have the terminal of whoever started the service',
      script: harmIf('sh -c ": </dev/tty"'),
    },
    {
      name: 'type into an inherited descriptor',
      script: perl(
        '$c = "x"; for (0..2) { open($f, "<&=", $_); print "HARM\\n" if ioctl($f, 0x5412, $c) }',
      ),
    },
    {
      name: 'find a descriptor left open',
      script: harmIf('[ "$(ls /proc/self/fd | wc -l)" -gt 4 ]'),
    },
    {
      name: 'change the kernel',
      script: harmIf('echo x >/proc/sys/kernel/core_pattern || echo h >/proc/sysrq-trigger'),
    },
    {
      name: 'see the environment of the service in its own',
      script: harmIf('env | grep -E "GRID_HOME|DATABASE_URL|NODE_"'),
    },
    {
      name: 'put a link in the place of its output',
      script: 'rm -f std.out; ln -s /etc/hostname std.out; ln -s /etc/shadow std.err',
    },
    { name: 'put a pipe in the place of its output', script: 'mkfifo std.out std.err' },
    { name: 'leave a giant with holes', script: 'truncate -s 50M giant; ln giant again' },
    {
      name: 'name files so that they lead away',
      script: "touch -- -rf '..x' ' ' \"a\nb\"; mkdir -- -p '...'; ln -s .. up; ln -s / top",
    },
    {
      name: 'close its directory to everybody',
      script: 'mkdir -p d/e; touch d/e/f; chmod 000 d; chmod 000 .',
    },
    { name: 'close its output to everybody', script: 'chmod 000 /proc/self/fd/1' },
    {
      name: 'exchange directories and links while its output is collected',
      script:
        '(i=0; while [ $i -lt 50 ]; do mkdir r; rmdir r; ln -s /etc r; rm r; i=$((i+1)); done) & mkdir q; sleep 0.2',
    },
    {
      name: 'leave files where everybody may write',
      script: 'for d in /tmp /var/tmp /dev/shm; do echo x >$d/hostile-left; done',
    },
    { name: 'leave shared memory', script: 'ipcmk -M 4096 -S 2 -Q >/dev/null 2>&1' },
    {
      name: 'outlive its end',
      script: 'env -i setsid sh -c "sleep 4711471 & sleep 4711471 &" & sleep 0.2',
    },
  ];
}
