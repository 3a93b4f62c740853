/**
 * A process of hostile clients: takes one order after the other from its parent and reports what each client was
 * answered. It gives way to everybody else on the machine, so that the server is what is measured.
 */
import { setPriority } from 'node:os';
import { operations, pathOf } from './heads.mjs';
import { KINDS } from './requests.mjs';
import { Wire } from './wire.mjs';

const DEADLINE_MS = 75_000;
/** Of bodies with a million lines, which are long work: beside others they have a sixth of the thread, all of them together. */
const LARGE_DEADLINE_MS = 300_000;
/** Answers that go on until somebody has enough of them. */
const ENDLESS = new Set(['/jobs/events', '/filecatalogue/events']);
const ENDLESS_MS = 3_000;
const MOST_FAULTS = 20;
/** What HTTP itself may be answered beside what the document says of an operation. */
const OF_HTTP = new Set([400, 404, 405, 408, 413, 415, 429, 431]);

/** Requests for everything, in an order of their own for each client. */
function plan() {
  const all = operations();
  return KINDS.flatMap((kind) =>
    all.filter((operation) => kind.fits(operation)).map((operation) => ({ kind, operation })),
  );
}

/** How a client asks for an operation when nothing is hostile about it. */
class World {
  constructor({ tokens, known, largeBytes }, index) {
    this.tokens = tokens;
    this.largeBytes = largeBytes;
    this.known = known;
    this.index = index;
  }

  plain(operation) {
    const { target } = this.bare(operation);
    if (!operation.ways.includes('bearer')) return { target, lines: [] };
    const names = Object.keys(this.tokens);
    const manager = operation.path.startsWith('/filecatalogue') ? 'fred' : undefined;
    const token = this.tokens[manager ?? names[this.index % names.length]];
    return { target, lines: [`Authorization: Bearer ${token}`] };
  }

  bare(operation) {
    return { target: pathOf(operation, this.known), lines: [] };
  }
}

class Client {
  constructor(order, index, report) {
    Object.assign(this, { order, index, report });
    // Every fourth comes through a proxy that is trusted, so that what it says of certificates is read.
    const address =
      index % 4 === 3 ? order.proxy : `127.0.${1 + (index >> 7)}.${1 + (index & 127)}`;
    this.wire = new Wire({ ...order.server, address });
    this.world = new World(order, index);
  }

  async run(steps, isOver) {
    for (const step of steps) {
      if (isOver()) break;
      await this.step(step);
    }
    this.wire.close();
  }

  async step({ kind, operation }) {
    const { report } = this;
    const name = `${kind.name} → ${operation.name}`;
    try {
      const deadlineMs = kind.isLarge ? LARGE_DEADLINE_MS : DEADLINE_MS;
      const request = kind.make(operation, this.world);
      if (ENDLESS.has(operation.path)) request.forMs ??= ENDLESS_MS;
      const answer = await this.wire.exchange(request, deadlineMs);
      report.count(answer?.status ?? 'none');
      const statuses = request.isHead ? operation.headStatuses : operation.statuses;
      const fault = answer && faultOf(answer, statuses);
      if (fault) report.fault(`${name}: ${fault}`);
    } catch (error) {
      this.wire.close();
      report.fault(`${name}: ${error.message}`);
    }
  }
}

/** What is wrong with the answer; undefined when nothing is. */
function faultOf({ status, headers, text }, statuses) {
  const shown = `${status} ${text.slice(0, 300)}`;
  if (status === 503)
    return headers['retry-after'] === undefined ? `no Retry-After: ${shown}` : undefined;
  if (status >= 500) return shown;
  if (status >= 400 && text !== '' && !/"type":"urn:gridgate:problem:|"error":"|<html/i.test(text))
    return `no problem: ${shown}`;
  return statuses.includes(status) || OF_HTTP.has(status) || status === 204 ? undefined : shown;
}

class Report {
  constructor() {
    this.statuses = {};
    this.faults = [];
    this.requests = 0;
  }

  count(status) {
    this.requests += 1;
    this.statuses[status] = (this.statuses[status] ?? 0) + 1;
  }

  fault(text) {
    if (this.faults.length < MOST_FAULTS) this.faults.push(text);
  }
}

/** Endless, in steps that meet every request once before any twice; large bodies only from every eighth client. */
function* walk(steps, index, clients) {
  const mayBeLarge = index % 8 === 0;
  let at = Math.floor((steps.length / clients) * index);
  const stride = strideOf(steps.length);
  for (;;) {
    const step = steps[at % steps.length];
    at += stride;
    if (mayBeLarge || !step.kind.isLarge) yield step;
  }
}

/** Coprime to the number of steps, so that none is left out. */
function strideOf(count) {
  const divides = (a, b) => (b === 0 ? a : divides(b, a % b));
  let stride = Math.floor(count * 0.618);
  while (divides(stride, count) !== 1) stride += 1;
  return stride;
}

async function flood(order) {
  setPriority(10);
  const steps = plan().filter(({ kind }) => new RegExp(order.only ?? '').test(kind.name));
  const report = new Report();
  const end = Date.now() + (order.seconds ?? Infinity) * 1000;
  const { first, clients, allClients } = order;
  const round = order.isOneRound ? eachKindOnce(steps).filter(isOurs(order)) : undefined;
  const queue = round?.[Symbol.iterator]();
  await Promise.all(
    Array.from({ length: clients }, (_, offset) => {
      const index = first + offset;
      const own = queue ? shared(queue) : walk(steps, index, allClients);
      return new Client(order, index, report).run(own, () => Date.now() > end);
    }),
  );
  return report;
}

/** Processes share a round: each has the kinds of its number. */
function isOurs({ first, clients, allClients }) {
  return (_, index) => index % (allClients / clients) === first / clients;
}

function* shared(queue) {
  for (let step = queue.next(); !step.done; step = queue.next()) yield step.value;
}

/** One request after the other, each alone: those with JSON to every operation that takes it, every other kind to one. */
async function oneByOne(order) {
  const report = new Report();
  const client = new Client(order, order.first, report);
  const all = plan().filter(({ kind }) => !kind.isSlow && !kind.isLarge);
  const steps = all.filter(({ kind }) => kind.isJson);
  for (const step of [...steps, ...eachKindOnce(all.filter(({ kind }) => !kind.isJson))]) {
    await client.step(step);
  }
  client.wire.close();
  return report;
}

/** Every kind once, each with another operation. */
function eachKindOnce(steps) {
  return [...grouped(steps).values()].map((own, index) => own[index % own.length]);
}

function grouped(steps) {
  const kinds = new Map();
  for (const step of steps) kinds.set(step.kind, [...(kinds.get(step.kind) ?? []), step]);
  return kinds;
}

process.on('message', async (order) => {
  const { statuses, faults, requests } = await (order.isOneByOne ? oneByOne(order) : flood(order));
  process.send({ statuses, faults, requests });
});
process.on('disconnect', () => process.exit());
