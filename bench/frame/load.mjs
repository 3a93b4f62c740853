import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runPlan, runToEnd } from './processes.mjs';

/** True when wrk is installed. */
export function hasWrk() {
  return spawnSync('wrk', ['-v']).error === undefined;
}

/**
 * Makes load and answers `{value, p50, p99}`. wrk cannot send client certificates, judge answers by itself or keep to a rate, so
 * requests with a certificate, a rate or headers of their own (`each`) are made by the generator in Node.
 */
export function makeLoad(plan, { generator, directory, signal }) {
  const isPlain = [plan.pair, plan.rate, plan.each].every((wish) => wish === undefined);
  return generator === 'wrk' && isPlain
    ? loadByWrk(plan, directory, signal)
    : runPlan('load-process.mjs', plan, signal);
}

async function loadByWrk(plan, directory, signal) {
  const script = join(directory, 'requests.lua');
  await writeFile(script, luaOf(plan));
  const args = [
    ['-t', '1'],
    ['-c', String(plan.connections)],
    ['-d', `${Math.max(1, Math.round(plan.seconds))}s`],
    ['--latency', '-s', script],
    ['--timeout', '60s'],
  ].flat();
  return readWrk(await runToEnd('wrk', [...args, plan.url], { signal }));
}

/** The prepared requests as wrk's script: the same ones in turn that load-process.mjs sends. */
function luaOf({ method, paths, headers, body, first }) {
  if (first !== undefined) return countedLuaOf({ method, path: paths[0], headers, body, first });
  const lines = [`local paths = {${paths.map(quoted).join(',')}}`, 'local turn = 0'];
  lines.push('local headers = {}');
  for (const [name, value] of Object.entries(headers)) {
    lines.push(`headers[${quoted(name)}] = ${quoted(String(value))}`);
  }
  lines.push(`local body = ${body === undefined ? 'nil' : quoted(body)}`);
  lines.push('local requests = {}');
  lines.push('function init()');
  lines.push('  for i, path in ipairs(paths) do');
  lines.push(`    requests[i] = wrk.format(${quoted(method)}, path, headers, body)`);
  lines.push('  end');
  lines.push('end');
  lines.push('function request()');
  lines.push('  turn = turn % #requests + 1');
  lines.push('  return requests[turn]');
  lines.push('end');
  return `${lines.join('\n')}\n`;
}

/** Requests whose body carries a running number, nine digits long, in place of `{n}`. */
function countedLuaOf({ method, path, headers, body, first }) {
  const lines = [`local number = ${first - 1}`, 'local headers = {}'];
  for (const [name, value] of Object.entries(headers)) {
    lines.push(`headers[${quoted(name)}] = ${quoted(String(value))}`);
  }
  lines.push('local before, after', 'function init()');
  const sample = body.replace('{n}', '#########');
  lines.push(
    `  local whole = wrk.format(${quoted(method)}, ${quoted(path)}, headers, ${quoted(sample)})`,
  );
  lines.push("  local from, to = whole:find('#########', 1, true)");
  lines.push('  before, after = whole:sub(1, from - 1), whole:sub(to + 1)', 'end');
  lines.push('function request()', '  number = number + 1');
  lines.push("  return before .. string.format('%09d', number) .. after", 'end');
  return `${lines.join('\n')}\n`;
}

/** A Lua string literal; every byte outside plain ASCII letters is escaped by number. */
function quoted(text) {
  const bytes = [...Buffer.from(text)];
  const escaped = bytes.map((byte) =>
    byte >= 32 && byte < 127 && byte !== 34 && byte !== 92
      ? String.fromCharCode(byte)
      : `\\${String(byte).padStart(3, '0')}`,
  );
  return `"${escaped.join('')}"`;
}

/** Reads wrk's report. Throws when an answer was no 2xx or 3xx, or a connection failed. */
function readWrk(report) {
  const bad = /Non-2xx or 3xx responses: (\d+)/.exec(report);
  if (bad) throw new Error(`${bad[1]} answers were errors`);
  const sockets = /Socket errors: (.*)/.exec(report);
  if (sockets && /[1-9]/.test(sockets[1])) throw new Error(`connections failed: ${sockets[1]}`);
  const time = (share) => {
    const match = new RegExp(`^\\s+${share}%\\s+([\\d.]+)(us|ms|s|m)\\s*$`, 'm').exec(report);
    const unit = { us: 0.001, ms: 1, s: 1000, m: 60_000 };
    return match ? Number(match[1]) * unit[match[2]] : Number.NaN;
  };
  const rate = Number(/Requests\/sec:\s+([\d.]+)/.exec(report)?.[1]);
  if (!(rate > 0)) throw new Error(`wrk reported no rate:\n${report}`);
  return { value: rate, p50: time(50), p99: time(99) };
}
