import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { request, type RequestOptions } from 'node:https';
import { text } from 'node:stream/consumers';
import type { PeerCertificate, TLSSocket } from 'node:tls';
import { parseJson } from '#src/kernel/index.js';
import type { Config } from '#src/config/index.js';
import { fault, ok, reasonOf, skipped, warning, type Finding } from './finding.js';

const DAY_MS = 86_400_000;
const EXPIRES_SOON_DAYS = 14;
const CLOCK_TOLERANCE_SECONDS = 5;
const PATIENCE_MS = 10_000;

/** A user's certificate to try the way with, and the CA of the server's. */
export interface BalancerInput {
  cert?: string | undefined;
  key?: string | undefined;
  ca?: string | undefined;
}

interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
  peer: PeerCertificate;
}

/**
 * The service as users reach it, at GRID_PUBLIC_URL and through whatever stands in front: its certificate, its issuer,
 * whether a client certificate arrives, and whether a forged one is believed.
 */
export async function checkBalancer(config: Config, input: BalancerInput): Promise<Finding[]> {
  const ca = await caOf(config, input);
  const call = (path: string, options: RequestOptions = {}): Promise<Answer> =>
    fetched(new URL(path, config.publicUrl), { ...(ca === undefined ? {} : { ca }), ...options });
  let live: Answer;
  try {
    live = await call('/health/live');
  } catch (error) {
    const text = `${config.publicUrl}: ${reasonOf(error)}`;
    const advice =
      'Is the server up, and is its certificate for this name? Give --ca FILE for a CA of your own';
    return [warning('public address', text, advice)];
  }
  return [
    addressFinding(config, live),
    certificateFinding(live),
    clockFinding(live),
    await issuerFinding(config, call),
    await metricsFinding(call),
    ...(await certificateFindings(input, call)),
  ];
}

type Call = (path: string, options?: RequestOptions) => Promise<Answer>;

async function caOf(config: Config, { ca }: BalancerInput): Promise<Buffer | undefined> {
  if (ca !== undefined) return readFile(ca);
  // The development CA, where this home has one.
  if (!config.useDevelopmentCa) return undefined;
  return readFile(`${config.homePath}/pki/ca.crt`).catch(() => undefined);
}

function addressFinding({ publicUrl }: Config, { status }: Answer): Finding {
  const text = `${publicUrl}/health/live answers ${status}`;
  const advice = 'The load balancer reaches no instance, or this is another server';
  return status === 200 ? ok('public address', text) : fault('public address', text, advice);
}

function certificateFinding({ peer }: Answer): Finding {
  const days = Math.floor((Date.parse(peer.valid_to) - Date.now()) / DAY_MS);
  const text = `the server's certificate is good for ${days} more days`;
  return days < EXPIRES_SOON_DAYS
    ? warning('server certificate', text, 'Renew it, and restart one instance after the other')
    : ok('server certificate', text);
}

function clockFinding({ headers }: Answer): Finding {
  const seconds = Math.abs(Date.parse(String(headers['date'])) - Date.now()) / 1000;
  if (Number.isNaN(seconds)) return skipped('clock (public address)', 'no Date header came');
  const text = `the clocks differ by ${Math.floor(seconds)} s`;
  return seconds > CLOCK_TOLERANCE_SECONDS
    ? warning('clock (public address)', text, 'Let both machines follow a time server')
    : ok('clock (public address)', text);
}

async function issuerFinding({ publicUrl }: Config, call: Call): Promise<Finding> {
  const { status, body } = await call('/.well-known/oauth-authorization-server');
  const issuer = status === 200 ? issuerOf(body) : undefined;
  if (issuer === publicUrl) return ok('issuer', publicUrl);
  const text = `${publicUrl} calls itself ${issuer ?? `nothing (status ${status})`}`;
  return fault('issuer', text, 'GRID_PUBLIC_URL must be the same here and on all instances');
}

function issuerOf(body: string): string | undefined {
  try {
    return (parseJson(body) as { issuer?: string }).issuer;
  } catch {
    return undefined;
  }
}

async function metricsFinding(call: Call): Promise<Finding> {
  const check = 'metrics from outside';
  const { status } = await call('/metrics');
  if (status !== 200) return ok(check, `/metrics is hidden (${status})`);
  const advice = 'Set GRID_METRICS_PORT, or hide /metrics in the load balancer';
  return warning(check, '/metrics can be read by everybody', advice);
}

/** With a user's certificate: it arrives, and nobody becomes that user by sending it in a header. */
async function certificateFindings(input: BalancerInput, call: Call): Promise<Finding[]> {
  if (input.cert === undefined || input.key === undefined) {
    const text = 'not tried: give --cert and --key of a registered user';
    return [skipped('client certificate', text), skipped('forged certificate', text)];
  }
  const cert = await readFile(input.cert);
  const key = await readFile(input.key);
  const shown = await call('/oauth2/groups', { cert, key });
  const arrives =
    shown.status === 200
      ? ok('client certificate', `arrives: ${shown.body.slice(0, 200)}`)
      : fault(
          'client certificate',
          `is not accepted (${shown.status}): ${detailOf(shown.body)}`,
          'See the deployment page, Client certificates through a load balancer',
        );
  return [arrives, await forgedFinding(cert, call)];
}

async function forgedFinding(pem: Buffer, call: Call): Promise<Finding> {
  const check = 'forged certificate';
  const der = new X509Certificate(pem).raw.toString('base64');
  const forms: [string, string][] = [
    ['Client-Cert', `:${der}:`],
    ['X-SSL-Client-Cert', encodeURIComponent(pem.toString())],
    ['X-SSL-Client-Der', der],
  ];
  const believed: string[] = [];
  for (const [name, value] of forms) {
    const { status } = await call('/oauth2/groups', { headers: { [name]: value } });
    if (status === 200) believed.push(name);
  }
  if (believed.length === 0) return ok(check, 'no header is believed that a client sends itself');
  const text = `whoever sends ${believed.join(' or ')} is taken for the user of any certificate`;
  const advice =
    'Stop the service; the load balancer must replace the header, also when there is no certificate, and GRID_TRUSTED_PROXIES must name it alone';
  return fault(check, text, advice);
}

function detailOf(body: string): string {
  try {
    const answer = parseJson(body) as { detail?: string; error_description?: string };
    return answer.error_description ?? answer.detail ?? '';
  } catch {
    return body.slice(0, 100);
  }
}

/** One call on a connection of its own, so that no certificate of an earlier one is remembered. */
function fetched(url: URL, options: RequestOptions): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = request(url, { ...options, agent: false, timeout: PATIENCE_MS }, (response) => {
      const peer = (response.socket as TLSSocket).getPeerCertificate();
      text(response).then(
        (body) =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body, peer }),
        reject,
      );
    });
    call.on('timeout', () => call.destroy(new Error(`no answer in ${PATIENCE_MS / 1000} s`)));
    call.on('error', reject);
    call.end();
  });
}
