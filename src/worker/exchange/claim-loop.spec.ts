import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '#src/runtime/index.js';
import type { ClaimAnswer, ClaimedRun, ClaimRequest } from '#src/jobs/index.js';
import type { LocalProcessExecutor } from '../runs/local-process.executor.js';
import { ClaimLoop, type ClaimLoopParts } from './claim-loop.js';
import { orderOf, orderText } from './run-order.js';
import type { RemoteRunService } from './remote-run-service.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const NOTHING: ClaimAnswer = { runs: [], stop: [], forget: [], isDrained: false };

let root: string;
let done: AbortController;
let requests: ClaimRequest[];
let started: string[];
let current: { order: object; key: string; isOver: boolean; isStopped: boolean }[];
let answerTo: (request: ClaimRequest) => ClaimAnswer;
let failures: Error[];
let silences: (number | undefined)[];

const claimed = (run: string): ClaimedRun => ({
  ...{ run, site: 'S', setup: 'Prod', owner: 'a', ownerGroup: 'g', cpuTime: 1, manifest: {} },
});

/** Plays the loop until that has happened, and for so long again, in which nothing more should. */
async function play(hasHappened: () => boolean, quietMs = 0): Promise<void> {
  const executor = {
    root,
    fault: null,
    get current() {
      return current;
    },
    freeMachine: () => ({ processors: 1, ramMB: 1, gpus: 0, ahead: 0 }),
    freeSlots: () => 1,
    start: (orders: { jid: bigint; attempt: number }[]) =>
      started.push(...orders.map(({ jid, attempt }) => `${jid}.${attempt}`)),
    cancel: () => undefined,
    reconcile: () => Promise.resolve(),
  };
  const json = async (
    _method: string,
    _path: string,
    { json, silenceSeconds }: { json: ClaimRequest; silenceSeconds?: number },
  ) => {
    requests.push(json);
    silences.push(silenceSeconds);
    await new Promise((resolve) => setImmediate(resolve));
    const answer = answerTo(json);
    if (answer !== NOTHING) return answer;
    return new Promise((_resolve, reject) =>
      done.signal.addEventListener('abort', () => reject(done.signal.reason as Error)),
    );
  };
  let seq = 0;
  const next = (): Promise<number> => {
    const failure = failures.shift();
    return failure ? Promise.reject(failure) : Promise.resolve((seq += 1));
  };
  const loop = new ClaimLoop({
    executor: executor as unknown as LocalProcessExecutor,
    service: { forget: () => undefined } as unknown as RemoteRunService,
    link: { json, nextClaim: next, isOver: () => false } as unknown as ClaimLoopParts['link'],
    ...{ logger: createLogger('fatal'), idleMs: Infinity, signal: done.signal },
  });
  const look = setInterval(() => {
    if (!hasHappened()) return;
    clearInterval(look);
    setTimeout(() => done.abort(new Error('enough')), quietMs);
  }, 5);
  await expect(loop.run()).rejects.toThrow('enough');
}

describe('the claims of a worker', () => {
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'gridgate-claims-'));
    done = new AbortController();
    [requests, started, current, failures, silences] = [[], [], [], [], []];
    answerTo = () => NOTHING;
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it('are not answered again and again for a killed run whose output is on its way', async () => {
    const order = orderOf(claimed('7.1'));
    current = [{ order, key: '7', isOver: true, isStopped: false }];
    answerTo = ({ holding, stopping = [] }) => {
      const stop = holding.filter((run) => !stopping.includes(run));
      return stop.length > 0 ? { ...NOTHING, stop } : NOTHING;
    };
    await play(() => requests.length > 0, 300);
    expect(requests.length).toBeLessThan(4);
    expect(requests.at(-1)).toMatchObject({ holding: ['7.1'], stopping: ['7.1'] });
  });

  it('are given up so soon that a worker that has lost two answers is not taken for silent', async () => {
    const leaseSeconds = 90;
    await play(() => requests.length > 0);
    const [silence = Infinity] = silences;
    expect(silence).toBeGreaterThan(requests[0]?.wait ?? Infinity);
    expect(2 * silence).toBeLessThan(leaseSeconds);
  });

  it('start no run whose directory is there', async () => {
    mkdirSync(join(root, '7.1'));
    writeFileSync(join(root, '7.1', 'order'), orderText(orderOf(claimed('7.1')), 'boot'));
    const late = { ...NOTHING, runs: [claimed('7.1'), claimed('8.1')] };
    answerTo = ({ seq }) => (seq === 1 ? late : NOTHING);
    await play(() => started.length > 0);
    expect(started).toEqual(['8.1']);
  });

  it('go on after a fault of the machine', async () => {
    failures = [Object.assign(new Error('full'), { code: 'ENOSPC' })];
    await play(() => requests.length > 0);
    expect(failures).toEqual([]);
  });

  it('wait for the service when an answer is none', async () => {
    answerTo = ({ seq }) => (seq === 1 ? ({ hello: 1 } as unknown as ClaimAnswer) : NOTHING);
    await play(() => requests.length > 1, 100);
    expect(requests).toHaveLength(2);
  });

  it('take nothing from an answer that a newer claim has overtaken', async () => {
    const begun: string[] = [];
    const runs = [claimed('7.1')];
    const claims: { request: ClaimRequest; answer: (answer: ClaimAnswer) => void }[] = [];
    const waiting: (() => void)[] = [];
    const executor = {
      ...{ root, current: [], fault: null, onFree: () => undefined },
      freeSlots: () => slots,
      freeMachine: () => ({ processors: 1, ramMB: 1, gpus: 0, ahead: 0 }),
      reconcile: () => Promise.resolve(),
      start: (orders: { jid: string }[]) => begun.push(...orders.map(({ jid }) => String(jid))),
    };
    let [seq, slots] = [0, 0];
    const stopped = new AbortController();
    const loop = new ClaimLoop({
      executor: executor as unknown as ClaimLoopParts['executor'],
      service: {} as ClaimLoopParts['service'],
      link: {
        isOver: () => false,
        nextClaim: () => Promise.resolve((seq += 1)),
        json: (_method: string, _path: string, { json }: { json: ClaimRequest }) =>
          new Promise((answer) => {
            claims.push({ request: json, answer });
            waiting.shift()?.();
          }),
      } as unknown as ClaimLoopParts['link'],
      logger: createLogger('fatal'),
      idleMs: Infinity,
      signal: stopped.signal,
    });
    const hasClaimed = async (count: number): Promise<void> => {
      while (claims.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
    };
    const end = loop.run();
    await hasClaimed(1);
    slots = 1;
    executor.onFree();
    await hasClaimed(2);
    claims[0]?.answer({ ...NOTHING, runs });
    await turn();
    expect([begun, claims[1]?.request.holding]).toEqual([[], []]);
    claims[1]?.answer({ ...NOTHING, runs });
    await turn();
    expect(begun).toEqual(['7']);
    stopped.abort(new Error('over'));
    await expect(end).rejects.toThrow('over');
  });
});
