/**
 * The floor of an answer: a bare node:https server that runs one prepared select and writes its rows as
 * JSON, or always writes the same body; before it, it may sign and run a statement. No
 * router, no token, no log. Says its port on standard output.
 */
import { generateKeyPairSync, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import https from 'node:https';
import pg from 'pg';

const plan = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const pool = new pg.Pool({ connectionString: plan.database, max: plan.connections });
const { cert, key, ca } = plan;
let next = 0;
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const signed = plan.sign === undefined ? undefined : Buffer.alloc(plan.sign, 'a');

const server = https.createServer({ cert, key, ca, requestCert: true, rejectUnauthorized: false });
server.keepAliveTimeout = 60_000;
server.on('request', (request, response) => {
  request.resume();
  if (signed) sign('sha256', signed, { key: privateKey, dsaEncoding: 'ieee-p1363' });
  if (plan.body !== undefined && plan.text === undefined) {
    answer(response, plan.body);
    return;
  }
  const values = plan.values[next++ % plan.values.length];
  pool.query({ name: 'floor', text: plan.text, values }).then(
    ({ rows }) => {
      if (plan.body !== undefined) answer(response, plan.body);
      else answer(response, JSON.stringify(plan.rows ? rows : rows[0]));
    },
    (error) => {
      response.statusCode = 500;
      response.end(String(error.message));
    },
  );
});

function answer(response, body) {
  response.writeHead(200, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
}

server.listen(0, '127.0.0.1', () => process.stdout.write(`port ${server.address().port}\n`));
