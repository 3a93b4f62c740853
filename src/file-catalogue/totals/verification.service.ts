import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '#src/database/index.js';
import { joinPath } from '../path/catalogue-path.js';
import { isInSubtree } from '../path/label.js';
import {
  countFiles,
  countInconsistencies,
  directoriesToVerify,
  type VerifiedRow,
} from './verification.repository.js';

/** What a verification found. The first MAX_DESCRIPTIONS faults are described. */
export interface VerificationReport {
  directories: number;
  files: number;
  bytes: bigint;
  faults: number;
  descriptions: string[];
}

const MAX_DESCRIPTIONS = 100;

interface OpenDirectory {
  row: VerifiedRow;
  files: number;
  bytes: bigint;
}

/**
 * Counts everything anew and compares: totals of every directory (stored and pending together), labels, paths,
 * boundaries, segments and values. Runs on one snapshot beside any number of writers, in memory bounded by the depth
 * of the tree.
 */
@Injectable()
export class VerificationService {
  constructor(private readonly database: Database) {}

  /** Verifies the whole catalogue; `progress` is told the number of directories done. */
  async verify(
    progress: (directories: number) => void = () => undefined,
  ): Promise<VerificationReport> {
    return this.database.snapshot((snapshot) => verifySnapshot(snapshot, progress));
  }
}

async function verifySnapshot(
  snapshot: Transaction,
  progress: (directories: number) => void,
): Promise<VerificationReport> {
  const report: VerificationReport = {
    directories: 0,
    files: 0,
    bytes: 0n,
    faults: 0,
    descriptions: [],
  };
  const fault = (description: string): void => {
    report.faults += 1;
    if (report.descriptions.length < MAX_DESCRIPTIONS) report.descriptions.push(description);
  };
  const open: OpenDirectory[] = [];
  const close = (): void => {
    const done = open.pop() as OpenDirectory;
    checkTotals(done, fault);
    const above = open.at(-1);
    if (above) {
      above.files += done.files;
      above.bytes += done.bytes;
    } else {
      report.files = done.row.own_files;
    }
  };
  for await (const rows of directoriesToVerify(snapshot)) {
    for (const row of rows) {
      for (
        let last = open.at(-1);
        last && !isInSubtree(row.label, last.row.label);
        last = open.at(-1)
      )
        close();
      checkPlace(row, open.at(-1)?.row, fault);
      open.push({ row, files: 0, bytes: 0n });
      add(open, row);
      report.directories += 1;
      report.bytes += BigInt(row.own_bytes);
    }
    progress(report.directories);
  }
  while (open.length > 0) close();
  await checkInconsistencies(snapshot, report, fault);
  return report;
}

/** `files` and `bytes` of an open directory: counted anew, less what is pending, so that they equal the stored ones. */
function add(open: readonly OpenDirectory[], row: VerifiedRow): void {
  const last = open.at(-1) as OpenDirectory;
  last.files += row.own_files - row.pending_files;
  last.bytes += BigInt(row.own_bytes) - BigInt(row.pending_bytes);
}

function checkTotals({ row, files, bytes }: OpenDirectory, fault: (text: string) => void): void {
  if (row.sub_files !== files)
    fault(`${row.path}: ${row.sub_files} files stored, ${files} counted`);
  if (BigInt(row.sub_bytes) !== bytes)
    fault(`${row.path}: ${row.sub_bytes} bytes stored, ${bytes} counted`);
}

function checkPlace(
  row: VerifiedRow,
  parent: VerifiedRow | undefined,
  fault: (text: string) => void,
): void {
  if (!parent) {
    if (row.path !== '/') fault(`${row.path}: stands outside the root`);
    return;
  }
  if (row.parent !== parent.id) fault(`${row.path}: its label stands below ${parent.path}`);
  if (row.path !== joinPath(parent.path, row.name)) fault(`${row.path}: stands in ${parent.path}`);
  if (row.depth !== parent.depth + 1) fault(`${row.path}: depth ${row.depth}`);
  const isBoundary =
    row.owner_id !== parent.owner_id ||
    row.group_id !== parent.group_id ||
    row.mode !== parent.mode;
  if (row.boundary !== isBoundary) fault(`${row.path}: boundary is ${row.boundary}`);
}

async function checkInconsistencies(
  snapshot: Transaction,
  report: VerificationReport,
  fault: (text: string) => void,
): Promise<void> {
  report.files = await countFiles(snapshot);
  for (const [what, count] of await countInconsistencies(snapshot)) {
    if (count > 0) fault(`${count} ${what}`);
  }
}
