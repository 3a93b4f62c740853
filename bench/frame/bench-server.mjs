import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Agent, request } from 'undici';
import { root } from '../../scripts/run.mjs';
import { startUntil } from './processes.mjs';

const HOME_GROUP = { mona: 'grid_mon', adam: 'grid_adm', fred: 'grid_fc' };

/** Nothing executes jobs, and the load of one address is not taken for an attack. */
const LIMITS_OFF = {
  GRID_ROLE: 'api',
  GRID_RATE_TOKEN: '0',
  GRID_RATE_SUBMIT: '0',
  GRID_RATE_AUTHORIZE: '0',
};

/** A running server of this build, and calls to it. Its log goes to a file, as it would on a site. */
export class BenchServer {
  agents = [];

  constructor(started, { home, database, ca }) {
    this.url = started.match[1];
    this.pid = started.pid;
    this.stopProcess = started.stop;
    this.home = home;
    this.database = database;
    this.ca = ca;
  }

  static async start({ home, database, env, profile, entry = 'main.js', checkout = root }) {
    const log = openSync(join(home, 'server.log'), 'a');
    const main = join(checkout, 'dist/src', entry);
    const { PATH, HOME, TMPDIR } = process.env;
    const own = { GRID_HOME: home, DATABASE_URL: database, GRID_PORT: '0', ...LIMITS_OFF };
    try {
      const started = await startUntil([...profiling(profile), main], /gridgate ready on (\S+)/, {
        env: { PATH, HOME, TMPDIR, ...own, GRID_DEMO: 'true', ...env },
        cwd: checkout,
        log,
      });
      const ca = await readFile(join(home, 'pki/ca.crt'), 'utf8');
      return new BenchServer(started, { home, database, ca });
    } catch (error) {
      throw new Error(`${error.message}\n${await readFile(join(home, 'server.log'), 'utf8')}`, {
        cause: error,
      });
    } finally {
      closeSync(log);
    }
  }

  /** Certificate and key of a demo identity, PEM. */
  async pair(user) {
    const [cert, key] = await Promise.all(
      ['crt', 'key'].map((kind) => readFile(join(this.home, 'pki', `${user}.${kind}`), 'utf8')),
    );
    return { cert, key };
  }

  /** An access token by certificate. */
  async token(user, group = HOME_GROUP[user] ?? 'grid_user', setup = 'Prod') {
    const query = new URLSearchParams({ grant_type: 'client_credentials', group, setup });
    const pair = await this.pair(user);
    const answer = await this.call('GET', `/oauth2/token?${query}`, { pair });
    return answer.body.access_token;
  }

  /** One call; throws for a status of 400 or more unless it `mayFail`. */
  async call(method, path, { token, json, headers = {}, body, pair, mayFail = false } = {}) {
    const answer = await request(`${this.url}${path}`, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: json === undefined ? body : JSON.stringify(json),
      dispatcher: pair === undefined ? (this.plain ??= this.agent()) : this.agent(pair),
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 400 && !mayFail) {
      throw new Error(`${method} ${path}: ${answer.statusCode} ${text.slice(0, 300)}`);
    }
    const isJson = /[/+]json/.test(String(answer.headers['content-type']));
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: isJson && text !== '' ? JSON.parse(text) : text,
    };
  }

  /** Reads an answer without keeping it; answers its length in bytes. Throws for a status of 400 or more. */
  async swallow(path, token) {
    const answer = await request(`${this.url}${path}`, {
      headers: { authorization: `Bearer ${token}` },
      dispatcher: (this.plain ??= this.agent()),
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    if (answer.statusCode >= 400) {
      throw new Error(
        `GET ${path}: ${answer.statusCode} ${(await answer.body.text()).slice(0, 300)}`,
      );
    }
    let bytes = 0;
    for await (const chunk of answer.body) bytes += chunk.length;
    return bytes;
  }

  /** A connection pool that trusts the server's CA; closed with the server. */
  agent(pair = {}) {
    const agent = new Agent({ connect: { ca: this.ca, ...pair } });
    this.agents.push(agent);
    return agent;
  }

  /** Resident memory of the server process, MiB (Linux). */
  async memory() {
    const status = await readFile(`/proc/${this.pid}/status`, 'utf8');
    const field = (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]);
    return { now: field('VmRSS') / 1024, peak: field('VmHWM') / 1024 };
  }

  async stop() {
    await Promise.all(this.agents.splice(0).map((agent) => agent.destroy()));
    await this.stopProcess();
  }
}

/** Node's options for a CPU profile that is written when the server stops. */
function profiling(directory) {
  return directory === '' ? [] : ['--cpu-prof', `--cpu-prof-dir=${resolve(directory)}`];
}
