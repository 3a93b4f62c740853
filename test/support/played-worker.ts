import { buffer } from 'node:stream/consumers';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import type {
  ClaimAnswer,
  ClaimRequest,
  ReportAnswer,
  RunKey,
  RunReport,
} from '#src/jobs/workers/exchange/protocol.js';
import { TestWorker } from './test-worker.js';
import type { Answer, Grid } from './testbed.js';

/** A worker that runs nothing and tells what a test wants. */
export class PlayedWorker {
  seq = 0;

  constructor(readonly worker: TestWorker) {}

  static async registered(grid: Grid, site: string, facts: object = {}): Promise<PlayedWorker> {
    return new PlayedWorker(await TestWorker.registered(grid, site, facts));
  }

  get id(): string {
    return this.worker.id;
  }

  /** A claim with the next number: of a full worker without runs, for a second at most, unless told. */
  claim(body: Partial<ClaimRequest> = {}): Promise<Answer<ClaimAnswer>> {
    this.seq += 1;
    const free = { processors: 8, ramMB: 16_000 };
    const json = { seq: this.seq, most: 0, holding: [], free, wait: 1, ...body };
    return this.call('POST', 'claims', { json });
  }

  /** Runs that it is given within 10 s, in claims one after the other. */
  async take(most: number, holding: RunKey[] = []): Promise<ClaimAnswer['runs']> {
    const { body } = await this.claim({ most, holding, wait: 10 });
    return body.runs;
  }

  async report(...reports: RunReport[]): Promise<ReportAnswer[]> {
    const { body } = await this.call<{ answers: ReportAnswer[] }>('POST', 'reports', {
      json: { reports },
    });
    return body.answers;
  }

  /** One request below /workers/<its id>/. */
  call<T = any>(
    method: string,
    path: string,
    options: { json?: object; body?: Buffer; headers?: Record<string, string> } = {},
  ): Promise<Answer<T>> {
    const { token, caller } = this.worker;
    return caller.call<T>(method, `/workers/${this.id}/${path}`, { token, ...options });
  }
}

/** A tar.gz of texts by their names. */
export async function archiveOf(files: Record<string, string>): Promise<Buffer> {
  const archive = pack();
  for (const [name, text] of Object.entries(files)) archive.entry({ name }, text);
  archive.finalize();
  return buffer(archive.pipe(createGzip()));
}
