import { join } from 'node:path';
import { parseJson, stringifyJson } from '#src/kernel/index.js';
import type { ClaimedRun, RunKey } from '#src/jobs/index.js';
import { parseJid, type RunOrder } from '#src/jobs/run/index.js';
import type { KeptRun } from '../runs/local-process.executor.js';
import { ORDER_FILE, textOf } from '../runs/run-directory.js';

/** A run as the service has given it to the worker. */
export interface ClaimedOrder extends RunOrder {
  claimed: ClaimedRun;
}

/** What stands in the directory of a run, for a worker that is started again. */
interface KeptOrder {
  /** The boot of the machine in which it was claimed. */
  boot: string;
  claimed: ClaimedRun;
}

/** The order that a claim was answered with. Throws Error for a name that is none of a run. */
export function orderOf(claimed: ClaimedRun): ClaimedOrder {
  const { run, site, setup, owner, ownerGroup, cpuTime, manifest, declared } = claimed;
  const [, id = '', attempt = ''] = /^(\d+)\.(\d+)$/.exec(run) ?? [];
  const jid = parseJid(id);
  if (jid === undefined) throw new Error(`the service has given a run without a name: ${run}`);
  return {
    ...{ jid, attempt: Number(attempt), site, setup, owner, ownerGroup, cpuTime, manifest },
    inputSandbox: claimed.inputSandbox ?? null,
    ...(declared && { declared }),
    claimed,
  };
}

/** What is kept of an order; its token is not. */
export function orderText({ claimed }: Pick<ClaimedOrder, 'claimed'>, boot: string): string {
  const { token: _, ...kept } = claimed;
  return stringifyJson({ boot, claimed: kept } satisfies KeptOrder);
}

/**
 * The order of a run whose directory is there, as of one that has perhaps begun; undefined when the directory has none: the worker was
 * ended before it was written, or the machine was. Throws the file system's error when it cannot be read: that says nothing about it.
 */
export function keptOrder(root: string, run: RunKey): (KeptRun & ClaimedOrder) | undefined {
  const text = textOf(join(root, run, ORDER_FILE)) ?? '';
  try {
    const { boot, claimed } = parseJson(text) as unknown as KeptOrder;
    return { ...orderOf(claimed), boot };
  } catch {
    return undefined;
  }
}
