import { Injectable } from '@nestjs/common';
import { Problem, type JsonObject } from '#src/kernel/index.js';
import { CataloguePolicy } from '../access/catalogue.policy.js';
import { NamespaceService } from '../namespace/namespace.service.js';
import { CatalogueWriter } from '../writing/catalogue-writer.service.js';
import { LineReader } from '../writing/line-reader.service.js';

const OWNER = { owner: 'alice', group: 'grid_user', mode: 0o775 };
const LINES_AT_ONCE = 2_000;

/** The catalogue that a first start has: a small tree whose answers are known, and a larger one to search in. */
@Injectable()
export class DemoCatalogue {
  constructor(
    private readonly policy: CataloguePolicy,
    private readonly namespace: NamespaceService,
    private readonly reader: LineReader,
    private readonly writer: CatalogueWriter,
  ) {}

  /**
   * Loads the demo catalogue; nothing is done when it is there. Lines are applied in order, so the last file tells
   * that all is there, and an interrupted load goes on where it was. Answers the number of lines that changed
   * something; throws when the registry lacks a demo name.
   */
  async load(): Promise<number> {
    const last = LARGE_TREE.lastFile;
    if ((await this.namespace.existing([last])).has(last)) return 0;
    const actor = await this.policy.systemActor();
    let changed = 0;
    for (const batch of batches(demoLines())) {
      const lines = await this.reader.read(batch);
      const good = lines.flatMap((line) => (line instanceof Problem ? [] : [line]));
      const outcomes = await this.writer.apply(actor, good);
      const fault = [...lines, ...outcomes].find((each) => each instanceof Problem);
      if (fault) throw new Error(`the demo catalogue cannot be loaded: ${fault.message}`);
      changed += outcomes.filter((outcome) => outcome !== 'unchanged').length;
    }
    return changed;
  }
}

function* batches(lines: Iterable<JsonObject>): Generator<JsonObject[]> {
  let batch: JsonObject[] = [];
  for (const line of lines) {
    batch.push(line);
    if (batch.length === LINES_AT_ONCE) {
      yield batch;
      batch = [];
    }
  }
  yield batch;
}

/** Every line of the demo catalogue. */
export function* demoLines(): Generator<JsonObject> {
  yield* smallTree();
  yield* largeTree();
}

function field(name: string, type: string): JsonObject {
  return { kind: 'field', name, type };
}

function directory(path: string, metadata: JsonObject = {}): JsonObject {
  return { kind: 'directory', path, ...OWNER, metadata };
}

function file(path: string, size: number, more: JsonObject = {}): JsonObject {
  return { kind: 'file', path, size, ...OWNER, replicas: replicasOf(size), ...more };
}

/** Every file has a copy in SE-A, every second one also in SE-B. */
function replicasOf(size: number): JsonObject[] {
  return size % 20 === 0 ? [{ se: 'SE-A' }, { se: 'SE-B' }] : [{ se: 'SE-A' }];
}

function* smallTree(): Generator<JsonObject> {
  for (const name of ['energy', 'run', 'size']) yield field(name, 'int');
  for (const name of ['particle', 'project', 'colour']) yield field(name, 'string');
  yield directory('/vo');
  yield directory('/vo/a', { energy: 100, particle: 'e' });
  yield directory('/vo/a/run1', { run: 1 });
  yield file('/vo/a/run1/f1', 10, { metadata: { quality: 7 } });
  yield file('/vo/a/run1/f2', 20);
  yield directory('/vo/a/run2', { run: 2 });
  yield file('/vo/a/run2/f3', 30);
  yield directory('/vo/b', { energy: 250, particle: 'mu' });
  yield directory('/vo/b/run3', { run: 3 });
  yield file('/vo/b/run3/f4', 40);
  yield file('/vo/b/run3/f5', 50);
  yield directory('/vo/c');
  yield file('/vo/c/f6', 60);
  yield directory('/vo/empty');
  yield directory('/vo/pq', { project: 'Z' });
  yield directory('/vo/pq/x', { colour: 'red' });
  yield directory('/vo/pq/y', { size: 9 });
}

const CAMPAIGNS = ['north', 'south', 'east', 'west', 'polar'];
const DETECTORS = ['tracker', 'calorimeter', 'muon-chamber', 'trigger'];
const STREAMS = ['raw', 'calibrated', 'simulated'];
const LARGE_TREE = {
  root: '/demo',
  periods: 10,
  blocks: 9,
  files: 11,
  lastFile: '/demo/polar/trigger/period-10/block-9/data-11.root',
};

/** 2,026 directories and 19,800 files, the same ones every time. */
function* largeTree(): Generator<JsonObject> {
  yield field('campaign', 'string');
  yield field('detector', 'string');
  yield field('period', 'int');
  yield field('beam', 'float');
  yield field('taken', 'date');
  yield field('stream', 'string');
  yield directory(LARGE_TREE.root);
  for (const [index, campaign] of CAMPAIGNS.entries()) {
    yield directory(`${LARGE_TREE.root}/${campaign}`, { campaign });
    for (const detector of DETECTORS) {
      const path = `${LARGE_TREE.root}/${campaign}/${detector}`;
      yield directory(path, { detector });
      for (let period = 1; period <= LARGE_TREE.periods; period += 1) {
        yield* periodTree(`${path}/period-${String(period).padStart(2, '0')}`, index, period);
      }
    }
  }
}

function* periodTree(path: string, campaign: number, period: number): Generator<JsonObject> {
  yield directory(path, {
    period: campaign * 100 + period,
    beam: 0.5 * (1 + ((campaign + period) % 6)),
  });
  for (let block = 1; block <= LARGE_TREE.blocks; block += 1) {
    const day = String(1 + ((period * 3 + block) % 28)).padStart(2, '0');
    const month = String(1 + ((campaign * 2 + block) % 12)).padStart(2, '0');
    const stream = STREAMS[(period + block) % STREAMS.length] ?? 'raw';
    yield directory(`${path}/block-${block}`, { taken: `2026-${month}-${day}`, stream });
    for (let number = 1; number <= LARGE_TREE.files; number += 1) {
      const seed = ((campaign * 31 + period) * 31 + block) * 31 + number;
      yield file(
        `${path}/block-${block}/data-${String(number).padStart(2, '0')}.root`,
        1_000 + ((seed * 7_919) % 9_000_000),
        { checksum: (Math.imul(seed, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0') },
      );
    }
  }
}
