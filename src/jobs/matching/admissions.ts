import { Inject, Injectable } from '@nestjs/common';
import { ChangeFeed } from '#src/database/index.js';
import { INPUT_DATA_CATALOGUE, type InputDataCatalogue } from '../run/executor.js';
import { inputDataOf, notInCatalogue } from '../run/input-data.js';
import { admittedSteps, WORK_CHANNEL } from '../state/admission.js';
import { MINOR } from '../state/job-state.js';
import type { Move } from '../state/jobs.repository.js';
import { DispatchRepository, type JobToAdmit } from './dispatch.repository.js';
import { DispatchTasks } from './dispatch-tasks.js';
import { Matcher } from './matcher.js';

const ADMIT_BATCH = 200;

/** Admits new jobs, and says of which no site can hold them. */
@Injectable()
export class Admissions {
  constructor(
    @Inject(INPUT_DATA_CATALOGUE) private readonly catalogue: InputDataCatalogue,
    private readonly repository: DispatchRepository,
    private readonly matcher: Matcher,
    private readonly tasks: DispatchTasks,
    private readonly feed: ChangeFeed,
  ) {}

  start(): void {
    this.tasks.seek('admission', () => this.admit());
    this.tasks.seek('unplaceable', () => this.matcher.noteUnplaceable());
  }

  /** Looks the input data of new jobs up; true when there may be more. */
  private async admit(): Promise<boolean> {
    const count = await this.repository.admit(ADMIT_BATCH, (job) => this.admission(job));
    if (count > 0) await this.feed.notify(WORK_CHANNEL);
    return count === ADMIT_BATCH;
  }

  private async admission({ jid, manifest, submitter, heldBy }: JobToAdmit): Promise<Move> {
    const [checking, admitted] = admittedSteps(heldBy);
    const paths = inputDataOf({ manifest });
    const files = paths.length === 0 ? new Map() : await this.catalogue.files(submitter, paths);
    const missing = paths.filter((path) => !files.has(path));
    if (missing.length === 0) {
      return {
        jid,
        steps: [checking, admitted],
        from: ['Received'],
        source: 'Optimizer',
        set: { verified: true },
      };
    }
    return {
      jid,
      steps: [
        checking,
        { to: 'Failed', minor: MINOR.inputDataMissing, app: notInCatalogue(missing) },
      ],
      from: ['Received'],
      source: 'Optimizer',
    };
  }
}
