import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { root } from '../../scripts/run.mjs';
import { BenchServer } from './bench-server.mjs';
import { makeLoad } from './load.mjs';
import { runPlan, startUntil } from './processes.mjs';
import { selfSigned } from './self-signed.mjs';

/** Connections of the service's own pool (GRID_DB_POOL): the floor gets the same. */
const SERVICE_POOL = 10;

/** What figures work with; see bench/README.md. Everything it starts is undone by `close`. */
export class Bench {
  opened = [];
  servers = new Map();
  kept = new Map();
  databases = 0;
  cancel = new AbortController();

  /** Its servers, modules and measured processes are those of the checkout. */
  constructor(options, checkout = root) {
    this.options = options;
    this.checkout = checkout;
  }

  log(text) {
    process.stderr.write(`${text}\n`);
  }

  /** What `make` answers, made once for each key: what several figures share. */
  once(key, make) {
    if (!this.kept.has(key)) this.kept.set(key, make());
    return this.kept.get(key);
  }

  /** A compiled module of the checkout: `bench.module('grid.js')`. */
  module(path) {
    return import(pathToFileURL(join(this.checkout, 'dist/src', path)).href);
  }

  /** A script of the checkout's bench/frame in a process of its own: the JSON that it answers to the plan. */
  process(script, plan) {
    return runPlan(script, plan, this.cancel.signal, this.checkout);
  }

  /** A fresh temporary directory. */
  async directory() {
    this.cancel.signal.throwIfAborted();
    this.home ??= this.makeHome();
    return mkdtemp(join(await this.home, 'd-'));
  }

  async makeHome() {
    const home = await mkdtemp(join(tmpdir(), 'gridgate-bench-'));
    this.opened.push(() => rm(home, { recursive: true, force: true }));
    return home;
  }

  /** URL of a new empty database. */
  async database(name = `bench_${(this.databases += 1)}`) {
    this.cancel.signal.throwIfAborted();
    this.cluster ??= this.startCluster();
    const urlOf = await this.cluster;
    await this.sql(urlOf('postgres'), `create database "${name}"`);
    return urlOf(name);
  }

  async startCluster() {
    const { startEmbeddedPostgres } = await import('#src/embedded-postgres/index.js');
    const postgres = await startEmbeddedPostgres({ home: await this.directory() });
    this.opened.push(() => postgres.stop());
    return (name) => postgres.urlOf(name);
  }

  /** The server of that name, started at the first call. */
  server({ name = 'api', env = {}, entry } = {}) {
    const known = this.servers.get(name) ?? this.startServer(env, entry);
    this.servers.set(name, known);
    return known;
  }

  async startServer(env, entry) {
    const home = await this.directory();
    const database = await this.database();
    const { profile, pool } = this.options;
    const own = { GRID_DB_POOL: pool, ...env };
    const { checkout } = this;
    const server = await BenchServer.start({ home, database, env: own, profile, entry, checkout });
    this.opened.push(() => server.stop());
    return server;
  }

  /** Keep-alive HTTPS load from a process of its own. */
  async load(wish) {
    const { server, token, pair, path, body } = wish;
    const plan = {
      url: server.url,
      ca: server.ca,
      pair,
      method: wish.method ?? 'GET',
      paths: wish.paths ?? [path],
      headers: { ...(token ? { authorization: `Bearer ${token}` } : {}), ...wish.headers },
      body,
      first: wish.first,
      connections: wish.connections ?? this.options.connections,
      rate: wish.rate,
      each: wish.each,
      seconds: wish.seconds,
    };
    this.scratch ??= await this.directory();
    const { generator } = this.options;
    return makeLoad(plan, { generator, directory: this.scratch, signal: this.cancel.signal });
  }

  /** One prepared statement on several connections, from a process of its own. */
  selects({ database, text, values = [[]], connections, seconds }) {
    connections ??= this.options.connections;
    const plan = { database, text, values, connections, seconds };
    return runPlan('selects-process.mjs', plan, this.cancel.signal);
  }

  /** Claims of one instance, in a process of its own (claims-process.mjs). */
  claims(plan) {
    return this.process('claims-process.mjs', plan);
  }

  /**
   * A bare node:https server with one prepared select, or always the same body; with `sign` it makes an ES256 signature of
   * that many bytes first, and with a body and `text` runs the statement, too. For `load` as `server`.
   */
  async bare({ database, text, values = [[]], rows = false, body, sign }) {
    const pair = await selfSigned();
    const plan = join(await this.directory(), 'plan.json');
    const input = { database, text, values, rows, body, sign, connections: SERVICE_POOL, ...pair };
    await writeFile(plan, JSON.stringify(input), { mode: 0o600 });
    const script = join(root, 'bench/frame/bare-process.mjs');
    const { match, stop } = await startUntil([script, plan], /port (\d+)/);
    this.opened.push(stop);
    return { url: `https://localhost:${match[1]}`, ca: pair.cert, stop };
  }

  /** oidc-provider with its store in memory, the same clients and refresh tokens; for `load` as `server`. */
  async oidcProvider() {
    const pair = await selfSigned();
    const plan = join(await this.directory(), 'provider.json');
    await writeFile(plan, JSON.stringify(pair), { mode: 0o600 });
    const script = join(root, 'bench/frame/oidc-provider-process.mjs');
    const { match, stop } = await startUntil([script, plan], /port (\d+)/);
    this.opened.push(stop);
    return { url: `https://localhost:${match[1]}`, ca: pair.cert, stop };
  }

  /** How often a second the work runs here, `parallel` at a time. */
  async perSecond(work, seconds, parallel = 1) {
    const started = performance.now();
    const until = started + seconds * 1000;
    let count = 0;
    const one = async () => {
      while (performance.now() < until) {
        await work(count);
        count += 1;
      }
    };
    await Promise.all(Array.from({ length: parallel }, one));
    return (count * 1000) / (performance.now() - started);
  }

  /** Rows of one statement. */
  async sql(database, text, values = []) {
    const client = new pg.Client({ connectionString: database });
    await client.connect();
    try {
      return (await client.query(text, values)).rows;
    } finally {
      await client.end();
    }
  }

  /** Stops and removes everything, the last first; nothing can be started any more. */
  close() {
    this.closing ??= this.undoAll();
    return this.closing;
  }

  async undoAll() {
    this.cancel.abort(new Error('stopped'));
    for (const undo of this.opened.splice(0).reverse()) {
      await undo().catch((error) => this.log(`cleaning up: ${error.message}`));
    }
  }
}
