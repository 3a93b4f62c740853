import { Inject, Injectable } from '@nestjs/common';
import { Problem, sleep } from '#src/kernel/index.js';
import { ChangeFeed } from '#src/database/index.js';
import { LOGGER, type Logger } from '#src/runtime/index.js';
import type { Executor, HeldJob } from '../run/executor.js';
import { readOutput, type OutputPart, type OutputWish } from '../run/output-reader.js';
import { OUTPUT_CHANNEL } from '../state/admission.js';
import type { Jid } from '../state/job.js';
import { DispatchRepository } from './dispatch.repository.js';
import { OutputReadsRepository } from './output-reads.repository.js';

const ANSWER_MS = 4_000;
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 200;

/**
 * Reads what running jobs write, whichever instance runs them: here from the disk, elsewhere by a question in the
 * database, of which a notification tells.
 */
@Injectable()
export class OutputReads {
  private executors: readonly Executor[] = [];

  constructor(
    private readonly dispatch: DispatchRepository,
    private readonly questions: OutputReadsRepository,
    private readonly feed: ChangeFeed,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** From now on answers for the runs of these executors, until the returned function is called. */
  serve(executors: readonly Executor[]): () => void {
    this.executors = executors;
    const stop = this.feed.listen(OUTPUT_CHANNEL, (id) => this.onQuestion(id));
    return () => {
      stop();
      this.executors = [];
    };
  }

  /**
   * Bytes of a file of a job that an executor holds; undefined when there is no such file, or nobody holds the job.
   * Throws Problem 503 when the instance that runs it does not answer.
   */
  async read(jid: Jid, wish: OutputWish): Promise<OutputPart | undefined> {
    const job = await this.dispatch.heldJob(jid);
    if (!job) return undefined;
    const own = this.executorOf(job);
    if (own) return readHeld(own, job, wish);
    const id = await this.questions.ask(jid, wish);
    await this.feed.notify(OUTPUT_CHANNEL, id);
    const answer = await this.answerTo(id);
    if (answer) return answer.part;
    throw Problem.unavailable('The instance that runs the job does not answer');
  }

  private async answerTo(id: string): Promise<{ part: OutputPart | undefined } | undefined> {
    const deadline = Date.now() + ANSWER_MS;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(LONGEST_PAUSE_MS, pause * 2)) {
      const answer = await this.questions.take(id);
      if (answer !== undefined || Date.now() > deadline) return answer;
      await sleep(pause);
    }
  }

  private onQuestion(id: string | undefined): void {
    if (id === undefined || this.executors.length === 0) return; // whoever was not heard asks again
    void this.answer(id).catch((error: unknown) => {
      this.logger.debug({ err: error }, 'the output of a job cannot be shown');
    });
  }

  private async answer(id: string): Promise<void> {
    const question = await this.questions.question(id);
    const job = question && (await this.dispatch.heldJob(question.jid));
    const executor = job && this.executorOf(job);
    if (executor) await this.questions.answer(id, await readHeld(executor, job, question));
  }

  private executorOf(job: { executor: string }): Executor | undefined {
    return this.executors.find(({ id }) => id === job.executor);
  }
}

async function readHeld(
  executor: Executor,
  job: HeldJob,
  wish: OutputWish,
): Promise<OutputPart | undefined> {
  const places = await executor.outputOf(job);
  return places && readOutput(places, wish);
}
