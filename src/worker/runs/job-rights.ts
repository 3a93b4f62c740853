import { readFile, writeFile } from 'node:fs/promises';
import { shellWord } from '#src/jobs/run/index.js';
import type { BecomeAccount } from '../isolation/isolation.js';
import { type StartOrder, startProgram } from './start-program.js';

const KILL = 'kill -9 -1 2>/dev/null';
/** Links are removed, never followed; what a program made unreadable is its own, and made readable once. */
const REMOVE = `for at; do
  find "$at" -xdev -mindepth 1 -delete 2>/dev/null && continue
  chmod -R u+rwx -- "$at" 2>/dev/null
  find "$at" -xdev -mindepth 1 -delete
done
for at; do [ -z "$(ls -A -- "$at" 2>/dev/null)" ] || exit 1; done`;
/** Where everybody may write on a usual machine. */
const EVERYBODYS = '/tmp /var/tmp /dev/shm /dev/mqueue /run/lock /var/lock /var/crash'.split(' ');
/** Tells the numbers of the accounts that have something there, and numbers of IPC objects that may be one. */
const look = (places: string): string => `of=
for uid; do of="$of\${of:+ -o} -uid $uid"; done
find ${places} -xdev '(' $of ')' -printf '%U\n' 2>/dev/null | sort -u
cat /proc/sysvipc/* 2>/dev/null | tr -cs 0-9 '\n' | sort -u`;
/** One walk, and another for what stands in directories that their owner made unreadable. */
const sweep = (places: string): string => `uid=$1
remove() { [ -z "$(find ${places} -xdev -uid "$uid" '(' -delete -o -print ')' 2>/dev/null | head -n 1)" ]; }
remove || {
  find ${places} -xdev -uid "$uid" -type d -exec chmod u+rwx {} ';' 2>/dev/null
  remove || isLeft=yes
}
ipc() { while read -r _ id _ a b c rest; do echo "$id $a $b $c $rest"; done <"/proc/sysvipc/$1"; }
for kind in m:shm s:sem q:msg; do
  ipc "\${kind#*:}" 2>/dev/null | while read -r id rest; do
    case " $rest " in *" $uid "*) ipcrm "-\${kind%%:*}" "$id" ;; esac
  done
done
[ -z "$isLeft" ]`;
const TIMEOUT_MS = 600_000;

/**
 * Work on what belongs to a job, done by processes that have the job's own rights: whatever a program has prepared for
 * it, they can do no more than the program could.
 */
export class JobRights {
  private readonly places: string;

  /**
   * `become` gives the words that change from root to an account; in the file `list` is what a look has found; everybody may
   * write in `everybodys`.
   */
  constructor(
    private readonly become: BecomeAccount,
    private readonly list: string,
    everybodys: readonly string[] = EVERYBODYS,
    private readonly start = startProgram,
  ) {
    this.places = everybodys.map(shellWord).join(' ');
  }

  /**
   * Ends all processes of an account that only jobs use. While the kernel sends the signal nothing is forked. Whether something lives on
   * has to be looked up: Linux answers success also where it has found nobody to whom it may be sent.
   */
  async killAll(uid: number): Promise<void> {
    await this.run(uid, KILL);
  }

  /** Empties directories of a job; true when they are empty. `uid` is undefined for the service's own account. */
  async empty(uid: number | undefined, directories: readonly string[]): Promise<boolean> {
    return (await this.run(uid, REMOVE, directories)) === 0;
  }

  /** Those of the accounts that have something where everybody may write, or perhaps an IPC object. */
  async whoLeftSomething(uids: readonly number[]): Promise<readonly number[]> {
    await writeFile(this.list, '', { mode: 0o600 });
    const output = { stdout: this.list, stderr: '/dev/null' };
    const script = look(this.places);
    if ((await this.run(uids[0], script, uids.map(String), output)) !== 0) return uids;
    const found = new Set((await readFile(this.list, 'utf8')).split('\n'));
    return uids.filter((uid) => found.has(String(uid)));
  }

  /** Removes what an account has left where everybody may write, and its IPC objects; true when nothing is left. */
  async sweepMachine(uid: number): Promise<boolean> {
    return (await this.run(uid, sweep(this.places), [String(uid)])) === 0;
  }

  private async run(
    uid: number | undefined,
    script: string,
    operands: readonly string[] = [],
    output?: StartOrder['output'],
  ): Promise<number | null> {
    const shell = [...this.become(uid, '--no-new-privs'), '/bin/sh', '-c', script];
    const [program = '', ...words] = [...shell, 'gridgate-clean', ...operands];
    const env = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' };
    return this.start({ program, words, cwd: '/', env, output, timeoutMs: TIMEOUT_MS });
  }
}
