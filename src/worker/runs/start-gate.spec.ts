import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { StartGate } from './start-gate.js';

const FULL = Object.assign(new Error('write'), { code: 'ENOSPC' });
const CANNOT = 'jobs cannot be started on the machine: its disk is full';

describe('StartGate', () => {
  let path: string;
  let now: number;
  let told: (string | null)[];
  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'gridgate-gate-'));
    [now, told] = [0, []];
  });
  afterEach(() => rmSync(path, { recursive: true, force: true }));

  const gateOf = (minFreeBytes: number, at = path): StartGate =>
    new StartGate(
      at,
      minFreeBytes,
      { now: () => now },
      {
        info: () => told.push(null),
        warn: ({ fault }: { fault: string }) => told.push(fault),
      },
    );

  it('is open until a start fails by the machine, and again after a pause', () => {
    const gate = gateOf(0);
    gate.look();
    gate.blame(new Error('of the job'));
    expect(gate.fault).toBeNull();
    gate.blame(FULL);
    gate.blame(FULL);
    expect(gate.fault).toBe(CANNOT);
    now = 999;
    gate.look();
    expect(gate.fault).toBe(CANNOT);
    now = 1_000;
    gate.look();
    expect(gate.fault).toBeNull();
    expect(told).toEqual([CANNOT, null]);
    expect(readdirSync(path)).toEqual([]);
  });

  it('stays closed while nothing can be written there', () => {
    const gate = gateOf(0, '/proc/self');
    gate.blame(FULL);
    now = 1_000;
    expect(() => gate.look()).not.toThrow();
    expect(gate.fault).toBe(CANNOT);
  });

  it('is closed while less is free than is to be', () => {
    const gate = gateOf(Number.MAX_SAFE_INTEGER);
    gate.look();
    expect(gate.fault).toBe(
      'the disk for jobs has less than 8589934592 MiB free (GRID_LOCAL_MIN_FREE)',
    );
  });

  it('lets through what the machine is not to blame for', () => {
    const gate = gateOf(0);
    const other = new Error('of the job');
    expect(() => gate.forgive(other)).toThrow(other);
    gate.forgive(FULL);
    expect(gate.fault).toBe(CANNOT);
  });
});
