import { Inject, Injectable } from '@nestjs/common';
import { Problem, type Clock, CLOCK } from '#src/kernel/index.js';
import type { Principal } from '#src/auth/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { JobPolicy } from '../access/job.policy.js';
import { energyOf } from '../run/energy.js';
import { usageWanted, type JobUsageQuery } from './job-usage.query.js';
import type { JobUsage, JobUsageResponse } from './job-usage.response.js';
import { UsageRepository, type UsageRow, type UsageSums } from './usage.repository.js';

const MOST_ROWS = 10_000;

/** What runs have used, to each whose jobs they may see. */
@Injectable()
export class JobUsageService {
  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
    private readonly policy: JobPolicy,
    private readonly repository: UsageRepository,
  ) {}

  /** GET /jobs/usage. Throws Problem 400 for more rows than anybody reads. */
  async report(principal: Principal, query: JobUsageQuery): Promise<JobUsageResponse> {
    const wanted = usageWanted(query, this.clock.now());
    const visibility = this.policy.visibility(principal, true);
    const rows = await this.repository.report(wanted, visibility, MOST_ROWS + 1);
    if (rows.length > MOST_ROWS) {
      throw Problem.invalidField(
        'by',
        `would give more than ${MOST_ROWS} rows: ask for fewer days`,
      );
    }
    const { energyProcessorWatts, energyMemoryWatts, energyPue } = this.config;
    return {
      from: wanted.from,
      to: wanted.to,
      energy: {
        processorWatts: energyProcessorWatts,
        memoryWattsPerGB: energyMemoryWatts,
        pue: energyPue,
      },
      total: this.usageOf(rows.reduce(added, NOTHING)),
      rows: rows.map((row) => ({ ...keysOf(row, wanted.by), ...this.usageOf(row) })),
    };
  }

  private usageOf(sums: UsageSums): JobUsage {
    const { runs, done, wallSeconds, processorSeconds, cpuSeconds, measuredSeconds } = sums;
    const busySeconds = cpuSeconds + (processorSeconds - measuredSeconds);
    const { memorySeconds, memoryUsed, memoryGiven } = sums;
    return {
      ...{ runs, done },
      wallHours: hours(wallSeconds),
      processorHours: hours(processorSeconds),
      cpuHours: hours(cpuSeconds),
      cpuEfficiency: percent(cpuSeconds, measuredSeconds),
      memoryEfficiency: percent(memoryUsed, memoryGiven),
      energy: rounded(energyOf({ busySeconds, memorySeconds }, this.config) / 1000),
    };
  }
}

const NOTHING: UsageSums = {
  ...{ runs: 0, done: 0, wallSeconds: 0, processorSeconds: 0, cpuSeconds: 0, measuredSeconds: 0 },
  ...{ memorySeconds: 0, memoryUsed: 0, memoryGiven: 0 },
};

function added(sums: UsageSums, row: UsageRow): UsageSums {
  const names = Object.keys(NOTHING) as (keyof UsageSums)[];
  return Object.fromEntries(names.map((name) => [name, sums[name] + row[name]])) as Record<
    keyof UsageSums,
    number
  >;
}

function keysOf(row: UsageRow, by: readonly (keyof UsageRow)[]): Partial<UsageRow> {
  return Object.fromEntries(by.map((key) => [key, row[key]]));
}

function hours(seconds: number): number {
  return rounded(seconds / 3600);
}

/** To a millionth: what is left of adding many numbers is no knowledge. */
function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

/** With one decimal; null of nothing. */
function percent(part: number, whole: number): number | null {
  return whole > 0 ? Math.round((part / whole) * 1000) / 10 : null;
}
