import { call, harmIf, syscall } from './shell.mjs';

const UNSEEN = 'it is not in what the job sees, and belongs to another account';
const EVERYBODY = 'what everybody may read or write on the machine';

/** Files of the service, of neighbours and of the machine. */
export const FILES = [
  {
    thing: 'read the key of the CA',
    sentence: UNSEEN,
    script: ({ home }) => harmIf(`cat ${home}/pki/ca.key`),
    leaks: { none: 'yes' },
  },
  {
    thing: 'list the home of the service',
    sentence: UNSEEN,
    script: ({ home }) => harmIf(`ls ${home}/jobs ${home}/pki/*`),
    leaks: { none: 'yes' },
  },
  {
    thing: 'read the passwords of the machine',
    sentence: UNSEEN,
    script: () => harmIf('cat /etc/shadow'),
  },
  {
    thing: 'write into the system',
    sentence: 'it is read-only, and belongs to root',
    script: () => harmIf('touch /usr/bin/x || touch /etc/x || touch /x'),
  },
  {
    thing: 'read files of the machine that everybody may read',
    sentence: 'only system directories are shown',
    script: ({ open }) => harmIf(`cat ${open.file}`),
    leaks: { accounts: EVERYBODY, none: EVERYBODY },
  },
  {
    thing: 'see which temporary files others have',
    sentence: '`/tmp` is its own',
    script: ({ open }) => harmIf(`ls ${open.directory}`),
    leaks: { accounts: EVERYBODY, none: EVERYBODY },
  },
  {
    thing: 'be told by inotify of what others do with their files',
    sentence: 'it has no path that leads there',
    script: ({ open }) =>
      syscall('inotify_add_watch', '$i, $p, 0xfff', inotify(`${open.directory}`)),
    leaks: { accounts: EVERYBODY, none: EVERYBODY },
  },
  {
    thing: 'be told by inotify of what a neighbour does with its files',
    sentence: 'it has no path that leads there, and no right to read there',
    script: ({ neighbour }) =>
      syscall('inotify_add_watch', '$i, $p, 0xfff', inotify(`${neighbour.directory}/work`)),
    leaks: { none: 'yes' },
  },
  {
    thing: 'be told by fanotify of what anybody does with files',
    sentence: 'that is root’s',
    script: () => syscall('fanotify_init', '0, 0'),
  },
  {
    thing: 'read the files of a neighbour',
    sentence: UNSEEN,
    script: ({ neighbour }) => harmIf(`cat ${neighbour.directory}/work/mine`),
    leaks: { none: 'yes' },
  },
  {
    thing: 'read the launch script of a neighbour, with its variables',
    sentence: UNSEEN,
    script: ({ neighbour }) => harmIf(`cat ${neighbour.directory}/launch`),
    leaks: { none: 'yes' },
  },
  {
    thing: 'read the token of a neighbour',
    sentence: UNSEEN,
    script: ({ neighbour }) => harmIf(`cat ${neighbour.directory}/token/bearer`),
    leaks: { none: 'yes' },
  },
  {
    thing: 'replace its own token',
    sentence: 'it is bound read-only; the directory is the service’s',
    script: () => harmIf('[ -s "$BEARER_TOKEN_FILE" ] && rm -f "$BEARER_TOKEN_FILE"'),
    leaks: { none: 'yes' },
  },
  {
    thing: 'write the output of a neighbour',
    sentence: UNSEEN,
    script: ({ neighbour }) => harmIf(`: >>${neighbour.directory}/out`),
    leaks: { none: 'yes' },
  },
  {
    thing: 'plant a link among the files of a neighbour',
    sentence: UNSEEN,
    script: ({ neighbour, home }) =>
      harmIf(
        `ln -s ${home}/pki/ca.key ${neighbour.directory}/work/planted-$$ && ` +
          `rm ${neighbour.directory}/work/planted-$$`,
      ),
    leaks: { none: 'yes' },
  },
  {
    thing: 'open a file by its number, past all directories',
    sentence: 'that is root’s',
    script: () => syscall('open_by_handle_at', '0, $h, 0', '$h = pack("IiIII", 8, 1, 2, 0, 0)'),
  },
  {
    thing: 'forge the end of its run',
    sentence: 'the directory around its own is not its own',
    script: () => harmIf(': >../forged'),
    leaks: { none: 'yes' },
  },
  {
    thing: 'take the place of its own run',
    sentence: 'the directory around its own is not its own',
    script: () => harmIf('mv ../work ../elsewhere && mv ../elsewhere ../work || touch ../new'),
    leaks: { none: 'yes' },
  },
  {
    thing: 'make a device',
    sentence: 'that is root’s',
    script: () => harmIf('mknod d b 254 0 || mknod d c 1 1'),
  },
  {
    thing: 'read the disk or the memory of the machine',
    sentence: 'its `/dev` has no such device, and it has no right to them',
    script: () =>
      harmIf('head -c1 /dev/vda || head -c1 /dev/sda || head -c1 /dev/mem || head -c1 /dev/port'),
  },
  {
    thing: 'leave files where everybody may write',
    sentence: 'these directories are its own, or what it left in them is removed with its account',
    script: ({ mark }) =>
      `for d in /tmp /var/tmp /dev/shm; do echo x >$d/hostile-left-${mark}; done`,
    remains: { none: 'yes: they stay' },
  },
];

function inotify(path) {
  return `$i = ${call('inotify_init1', '0')}; $p = "${path}"`;
}
