import * as fc from 'fast-check';

/** A request as it goes over the wire: nothing is encoded or repaired any more. */
export interface HostileRequest {
  method: string;
  /** Path and query. */
  target: string;
  headers: [string, string][];
  body: Buffer;
  /** Ends the connection before the announced end of the body. */
  isCut?: boolean;
}

/** Texts that have broken programs. `CANARY` is in names that must never become files. */
export const CANARY = 'gridgate-canary';
const TEXTS = [
  '',
  ' ',
  '.',
  '..',
  `../${CANARY}`,
  `../../../../../../tmp/${CANARY}`,
  `/tmp/${CANARY}`,
  `..\\..\\${CANARY}`,
  `C:\\${CANARY}`,
  `${CANARY}\0.txt`,
  `\u2024\u2024/${CANARY}`,
  `\uff0e\uff0e\uff0f${CANARY}`,
  `..%2f${CANARY}`,
  `${CANARY}\n`,
  `${CANARY}\r\nX-Evil: 1`,
  '\u202e\u0000\u0007',
  `\ud800${CANARY}`,
  'é'.repeat(128),
  'n'.repeat(256),
  '-rf',
  '$(touch /tmp/gridgate-canary)',
  `\`touch /tmp/${CANARY}\``,
  `; touch /tmp/${CANARY}`,
  "' or 1=1 --",
  '{{7*7}}',
  '%s%n%x',
  '__proto__',
  'constructor',
  'a'.repeat(5_000),
];
const NUMBERS = ['0', '-0', '-1', '1e999', '1e-999', '9'.repeat(400), '0.1', '9007199254740993'];
const KEYS = [
  ...['Executable', 'Arguments', 'InputSandbox', 'OutputSandbox', 'StdOutput', 'StdError'],
  ...['JobName', 'JobGroup', 'JobType', 'Sites', 'BannedSites', 'InputData', 'CPUTime', 'Priority'],
  ...['Parameters', 'ExecutionEnvironment', 'LogLevel', 'NumberOfProcessors', 'Owner', 'JobID'],
  ...['StdOut', 'executable', '__proto__', 'constructor', 'toString', '\0', 'OutputData', '%n'],
];
const DEPTH = 100_000;
const POSTS = Array.from({ length: 16 }, () => 'POST');
const GETS = Array.from({ length: 12 }, () => 'GET');

const text = fc.oneof(
  { arbitrary: fc.constantFrom(...TEXTS), weight: 4 },
  { arbitrary: fc.string({ unit: 'binary', maxLength: 40 }), weight: 2 },
  { arbitrary: fc.string({ maxLength: 20 }), weight: 1 },
);

/** JSON text, not a value: duplicates, giant numbers and broken escapes can be written. */
const json: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    text.map((one) => JSON.stringify(one)),
    fc.constantFrom(...NUMBERS, 'true', 'false', 'null', '"\\ud800"', '"\\u0000"', '"\\x"', 'NaN'),
    fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    fc
      .array(fc.tuple(fc.constantFrom(...KEYS), tie('value')), { maxLength: 4 })
      .map((pairs) => objectText(pairs)),
  ),
})).value;

function objectText(pairs: readonly (readonly [string, string])[]): string {
  return `{${pairs.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`;
}

/** Pairs that are allowed, and hostile all the same. */
const harmless = fc.oneof(
  fc
    .tuple(fc.constantFrom('JobName', 'JobGroup', 'Arguments', 'Owned', 'X'), text)
    .map(([key, value]): [string, string] => [key, JSON.stringify(value.slice(0, 30))]),
  fc.constantFrom<[string, string]>(
    ['Arguments', `["../${CANARY}","$(touch /tmp/${CANARY})"]`],
    ['Arguments', `"; touch /tmp/${CANARY}"`],
    ['StdOutput', `"${CANARY}"`],
    ['StdError', `"-rf"`],
    ['OutputSandbox', '["*","?","*/*/*","****************x"]'],
    ['OutputSandbox', '["std.out/x","./././std.err","std.err/"]'],
    ['ExecutionEnvironment', `{"LD_PRELOAD":"/tmp/${CANARY}","PATH":"","BASH_ENV":"/tmp/x"}`],
    ['ExecutionEnvironment', '["IFS=/","ENV=;id"]'],
    ['Parameters', '3'],
    ['Parameters', '["a/../b","%n","%(x)s"]'],
    ['X', NUMBERS[5] ?? ''],
  ),
);

/** Manifests of hostile values; many have a program, so that they come far. */
const manifest = fc
  .tuple(
    fc.constantFrom('"/bin/true"', '"true"', '"/no/program"'),
    fc.oneof(
      fc.array(fc.tuple(fc.constantFrom(...KEYS.slice(1)), json), { maxLength: 4 }),
      fc.array(harmless, { maxLength: 2 }),
      fc.array(harmless, { maxLength: 3 }),
    ),
    fc.boolean(),
  )
  .map(([program, pairs, hasProgram]) =>
    objectText(hasProgram ? [['Executable', program], ...pairs] : pairs),
  );

const deep = fc.constantFrom(
  '['.repeat(DEPTH),
  '['.repeat(DEPTH) + ']'.repeat(DEPTH),
  '{"a":'.repeat(DEPTH) + '1' + '}'.repeat(DEPTH),
  `{"Executable":"/bin/true","X":${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}}`,
  `{"Executable":"/bin/true","X":${'9'.repeat(DEPTH)}}`,
  `{"Executable":"/bin/true","X":1e${'9'.repeat(1_000)}}`,
  `{"manifests":[${'{},'.repeat(20_000)}{}]}`,
  `{${'"Executable":"/bin/true",'.repeat(5_000)}"Executable":"/bin/false"}`,
);

const jsonBody = fc
  .oneof(
    { arbitrary: manifest, weight: 6 },
    { arbitrary: json, weight: 3 },
    {
      arbitrary: fc
        .array(manifest, { maxLength: 3 })
        .map((items) => `{"manifests":[${items.join(',')}]}`),
      weight: 3,
    },
    { arbitrary: deep, weight: 1 },
    { arbitrary: fc.string({ unit: 'binary', maxLength: 200 }), weight: 2 },
  )
  .map((body) => ({ type: 'application/json', body: Buffer.from(body) }));

const randomBody = fc
  .tuple(
    fc.constantFrom(
      'application/json',
      'application/json; charset=utf-16',
      'multipart/form-data',
      'multipart/form-data; boundary=',
      'multipart/form-data; boundary="x',
      `multipart/form-data; boundary=${'b'.repeat(300)}`,
      'application/x-www-form-urlencoded',
      'application/octet-stream',
      'text/plain',
      '',
      '/',
      'application/json, application/json',
    ),
    fc.uint8Array({ maxLength: 400 }),
  )
  .map(([type, bytes]) => ({ type, body: Buffer.from(bytes) }));

const formBody = fc
  .array(fc.tuple(fc.constantFrom('manifest', 'manifest[]', 'x', ''), manifest), { maxLength: 3 })
  .map((pairs) => ({
    type: 'application/x-www-form-urlencoded',
    body: Buffer.from(pairs.map(([key, value]) => `${key}=${encoded(value)}`).join('&')),
  }));

const part = fc
  .record({
    head: fc.oneof(
      fc.constant('form-data; name="manifest"'),
      text.map((name) => `form-data; name="file"; filename="${name}"`),
      text.map((name) => `form-data; name="file"; filename*=UTF-8''${encoded(name)}`),
      text.map((name) => `form-data; name="${name}"`),
      fc.constant('form-data'),
      fc.constant('attachment; filename=x'),
      fc.constant(`form-data; name="file"; filename="${'h'.repeat(100_000)}"`),
      fc.constant(''),
    ),
    more: fc.constantFrom(
      '',
      '\r\nContent-Type: text/plain; charset=utf-7',
      '\r\nContent-Transfer-Encoding: base64',
      `\r\nX-Long: ${'l'.repeat(90_000)}`,
      '\r\nContent-Disposition: form-data; name="manifest"; filename="../twice"',
      '\r\nbroken',
    ),
    content: fc.oneof(manifest, json, fc.string({ unit: 'binary', maxLength: 300 })),
  })
  .map(({ head, more, content }) => `Content-Disposition: ${head}${more}\r\n\r\n${content}`);

const multipartBody = fc
  .record({
    parts: fc.array(part, { maxLength: 4 }),
    withManifest: fc.boolean(),
    fault: fc.constantFrom('none', 'none', 'none', 'no end', 'cut', 'other boundary', 'bare LF'),
  })
  .map(({ parts, withManifest, fault }) => {
    const all = withManifest
      ? [
          'Content-Disposition: form-data; name="manifest"\r\n\r\n{"Executable":"/bin/true"}',
          ...parts,
        ]
      : parts;
    let body = all.map((one) => `--BOUNDARY\r\n${one}\r\n`).join('');
    if (fault !== 'no end') body += '--BOUNDARY--\r\n';
    if (fault === 'cut') body = body.slice(0, Math.floor(body.length * 0.7));
    if (fault === 'bare LF') body = body.replaceAll('\r\n', '\n');
    const boundary = fault === 'other boundary' ? 'ELSE' : 'BOUNDARY';
    return { type: `multipart/form-data; boundary=${boundary}`, body: Buffer.from(body) };
  });

const body = fc.oneof(
  { arbitrary: jsonBody, weight: 5 },
  { arbitrary: multipartBody, weight: 5 },
  { arbitrary: formBody, weight: 2 },
  { arbitrary: randomBody, weight: 3 },
);

const query = fc.oneof(
  { arbitrary: fc.constant(''), weight: 14 },
  {
    arbitrary: fc
      .array(
        fc.tuple(
          fc.constantFrom(
            ...['status', 'Status', 'site', 'jobName', 'owner', 'maxJobs', 'startJob', 'sort'],
            ...['fromDate', 'toDate', 'after', 'allOwners', 'group', 'jid', 'purge', 'dryRun'],
            ...['__proto__', 'a[]', 'a[b]', 'killed', ''],
          ),
          fc.oneof(text, fc.constantFrom(...NUMBERS, 'true', 'Done', '2026-01-01', '-jid,status')),
        ),
        { maxLength: 3 },
      )
      .map((pairs) => `?${pairs.map(([key, value]) => `${key}=${encoded(value)}`).join('&')}`),
    weight: 5,
  },
  {
    arbitrary: fc.constantFrom(
      '?%',
      '?%zz',
      '?%00=%00',
      '?&&&',
      '?=',
      '?a=%ed%a0%80',
      '?????',
      '?+',
    ),
    weight: 1,
  },
);

const headers = fc.array(
  fc.constantFrom<[string, string]>(
    ['range', 'bytes=0-0'],
    ['range', 'bytes=9999999999999999999-'],
    ['range', 'bytes=-0,1-2,--'],
    ['if-none-match', '*'],
    ['if-none-match', `"${'x'.repeat(4_000)}"`],
    ['idempotency-key', ''],
    ['idempotency-key', 'k'],
    ['idempotency-key', 'k'.repeat(300)],
    ['idempotency-key', '\u00e9'],
    ['accept', 'image/png'],
    ['content-encoding', 'gzip'],
    ['content-type', 'text/evil'],
    ['x-http-method-override', 'DELETE'],
    ['x-request-id', '\u0080{{'],
    ['expect', '200-ok'],
  ),
  { maxLength: 2 },
);

/** Requests against every route of jobs; `jids` are jobs that there are. */
export function hostileRequests(jids: readonly number[]): fc.Arbitrary<HostileRequest> {
  const jid = fc.oneof(
    { arbitrary: fc.constantFrom(...jids).map(String), weight: 6 },
    {
      arbitrary: fc.constantFrom(
        ...['0', '-1', '1e1', '9'.repeat(30), '1%00', '%2e%2e', '..', '%D9%A1', '0x10', 'NaN', '%'],
        ...['1%2f2', '1;x', '1%20', '%ff', 'summary%2f', '1'.repeat(3_000), '[1]', '1,2'],
      ),
      weight: 2,
    },
  );
  const file = fc.oneof(text.map(encoded), fc.constantFrom('std.out', '', 'd//x', '%2e%2e/x', '%'));
  const kind = fc.constantFrom('inputsandbox', 'outputsandbox');
  const below = fc.oneof(
    fc.constantFrom('', '/manifest', '/history', '/parameters', '/explain', '/reschedule', '/x'),
    kind.map((name) => `/${name}`),
    kind.map((name) => `/${name}/files`),
    fc.tuple(kind, file).map(([name, path]) => `/${name}/files/${path}`),
  );
  const path = fc.oneof(
    {
      arbitrary: fc.constantFrom('/jobs', '/jobs/', '/jobs/summary', '//jobs', '/jobs/.'),
      weight: 3,
    },
    { arbitrary: fc.tuple(jid, below).map(([one, rest]) => `/jobs/${one}${rest}`), weight: 6 },
  );
  const read = fc
    .record({
      method: fc.constantFrom(...GETS, 'HEAD', 'DELETE', 'POST', 'PUT', 'OPTIONS', 'TRACE'),
      path,
      query,
      headers,
    })
    .map((one) => ({ ...one, target: one.path + one.query, body: Buffer.alloc(0) }));
  const submit = fc
    .record({
      method: fc.constantFrom(...POSTS, 'PUT', 'DELETE'),
      path: fc.constantFrom('/jobs', '/jobs', '/jobs', '/jobs?dryRun=true', '/jobs/1/reschedule'),
      headers,
      body,
      isCut: fc.constantFrom(false, false, false, false, false, false, false, false, true),
    })
    .map(({ method, path: target, headers: more, body: { type, body: bytes }, isCut }) => ({
      method,
      target,
      headers: [['content-type', type], ...more] as [string, string][],
      body: bytes,
      isCut,
    }));
  return fc.oneof({ arbitrary: read, weight: 2 }, { arbitrary: submit, weight: 3 });
}

/** Percent-encoding that also takes halves of surrogate pairs: their bytes are no UTF-8. */
function encoded(value: string): string {
  return [...value]
    .map((sign) => {
      const isHalf = /\p{Surrogate}/u.test(sign);
      return isHalf ? '%ED%A0%80' : encodeURIComponent(sign);
    })
    .join('');
}
