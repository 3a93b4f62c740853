import { sleep } from '#src/kernel/index.js';
import { StarterExitedError, type Starter } from './start/starter.js';

const KILL = 'kill -9 -1 2>/dev/null';
/** Links are removed, never followed; what a program made unreadable is its own, and made readable once. */
const REMOVE = `for at; do
  find "$at" -xdev -mindepth 1 -delete 2>/dev/null && continue
  chmod -R u+rwx -- "$at" 2>/dev/null
  find "$at" -xdev -mindepth 1 -delete
done
for at; do [ -z "$(ls -A -- "$at" 2>/dev/null)" ] || exit 1; done`;
/** Where everybody may write on a usual machine. */
const EVERYBODYS = '/tmp /var/tmp /dev/shm /dev/mqueue /run/lock /var/lock /var/crash';
/** One walk when nothing was left, as of most jobs. */
const SWEEP = `left() { [ -n "$(find ${EVERYBODYS} -xdev -user "$1" 2>/dev/null | head -n 1)" ]; }
if left "$1"; then find ${EVERYBODYS} -xdev -user "$1" -delete 2>/dev/null; isLeft=maybe; fi
ipc() { while read -r _ id _ a b c rest; do echo "$id $a $b $c $rest"; done <"/proc/sysvipc/$1"; }
for kind in m:shm s:sem q:msg; do
  ipc "\${kind#*:}" 2>/dev/null | while read -r id rest; do
    case " $rest " in *" $1 "*) ipcrm "-\${kind%%:*}" "$id" ;; esac
  done
done
[ -z "$isLeft" ] || ! left "$1"`;
const TIMEOUT_MS = 600_000;

/**
 * Work on what belongs to a job, done by processes that have the job's own rights: whatever a program has prepared for
 * it, they can do no more than the program could.
 */
export class JobRights {
  /** `become` gives the words that change from root to an account. */
  constructor(
    private readonly become: (uid: number) => readonly string[],
    private readonly starter: Starter,
  ) {}

  /** Ends all processes of an account that only jobs use; true when none was found any more. */
  async killAll(uid: number, timeoutMs: number): Promise<boolean> {
    const deadline = Date.now() + timeoutMs;
    for (let pause = 1; ; pause = Math.min(50, pause * 2)) {
      if ((await this.run(uid, KILL)) !== 0) return true;
      if (Date.now() > deadline) return false;
      await sleep(pause);
    }
  }

  /** Empties directories of a job; true when they are empty. `uid` is undefined for the service's own account. */
  async empty(uid: number | undefined, directories: readonly string[]): Promise<boolean> {
    return (await this.run(uid, REMOVE, directories)) === 0;
  }

  /** Removes what an account has left where everybody may write, and its IPC objects; true when nothing is left. */
  async sweepMachine(uid: number): Promise<boolean> {
    return (await this.run(uid, SWEEP, [String(uid)])) === 0;
  }

  private async run(
    uid: number | undefined,
    script: string,
    directories: readonly string[] = [],
  ): Promise<number | null> {
    const own = uid === undefined ? [] : this.become(uid);
    const [program = '', ...words] = [
      ...[...own, '/bin/sh', '-c', script, 'gridgate-clean'],
      ...directories,
    ];
    const env = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' };
    const order = { program, words, cwd: '/', env, timeoutMs: TIMEOUT_MS };
    return this.starter.run(order).catch((error: unknown) => {
      if (!(error instanceof StarterExitedError)) throw error;
      return this.starter.run(order); // doing it twice does no harm
    });
  }
}
