import { X509Certificate } from 'node:crypto';
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '#src/config/index.js';
import { TrustedAuthorities } from '../../x509/index.js';
import { fault, ok, reasonOf, skipped, warning, type Finding } from './finding.js';

const SHOWN = 5;

/** The CAs that may name users as this configuration reads them, and the listener's own certificate. */
export async function checkTrust(config: Config): Promise<Finding[]> {
  if (config.useDevelopmentCa && !(await exists(join(config.homePath, 'pki/ca.crt')))) {
    return [skipped('trusted CAs', 'the first start makes the development CA')];
  }
  return [...(await authorityFindings(config)), await listenerFinding(config)];
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

async function authorityFindings(config: Config): Promise<Finding[]> {
  const check = 'trusted CAs';
  const source =
    config.trustedCa ?? (config.useDevelopmentCa ? join(config.homePath, 'pki/ca.crt') : undefined);
  if (source === undefined) {
    const advice = 'Set GRID_TRUSTED_CA, usually /etc/grid-security/certificates';
    return [warning(check, 'there is none: no client certificate is accepted', advice)];
  }
  const told: string[] = [];
  const paths = [source];
  try {
    const authorities = await TrustedAuthorities.open({ paths, log: (line) => told.push(line) });
    authorities.close();
    const found = authorities.size > 0;
    const text = `${authorities.size} in ${source}`;
    const advice = 'Put root and intermediate CAs there';
    return [
      found ? ok(check, text) : warning(check, text, advice),
      ...told.slice(0, SHOWN).map((line) => warning(check, line, 'See the security model')),
      ...more(check, told.length - SHOWN),
    ];
  } catch (error) {
    return [fault(check, reasonOf(error), 'Check GRID_TRUSTED_CA')];
  }
}

function more(check: string, count: number): Finding[] {
  return count > 0 ? [skipped(check, `and ${count} more of these`)] : [];
}

async function listenerFinding(config: Config): Promise<Finding> {
  const check = 'listener certificate';
  if (config.tlsMode === 'off') return skipped(check, 'GRID_TLS=off: a load balancer ends TLS');
  const path =
    config.tlsCertificate ??
    (config.useDevelopmentCa ? join(config.homePath, 'pki/server.crt') : undefined);
  if (path === undefined) return skipped(check, 'none is configured');
  try {
    const certificate = new X509Certificate(await readFile(path));
    const host = new URL(config.publicUrl).hostname.replace(/^\[|\]$/g, '');
    const isForHost =
      certificate.checkHost(host) !== undefined || certificate.checkIP(host) !== undefined;
    if (!isForHost) {
      const advice = `Users reach ${config.publicUrl}: the certificate must name ${host}`;
      return warning(check, `${path} is not for ${host}`, advice);
    }
    const isOver = Date.parse(certificate.validTo) < Date.now();
    return isOver
      ? fault(check, `${path} has expired (${certificate.validTo})`, 'Renew it')
      : ok(check, `${path}, for ${host}, until ${certificate.validTo}`);
  } catch (error) {
    return fault(check, `${path}: ${reasonOf(error)}`, 'Check GRID_TLS_CERT');
  }
}
