import { copyFile, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { issueRevocationList } from '../certificates.js';
import {
  issueCertificate,
  type IssuedCertificate,
} from '../../../src/x509/issuing/certificate-issuer.js';
import { subjectOf } from './registry.js';

const ALICE = subjectOf('alice');
const DAY = 86_400_000;

/** Client certificates that are no good, by what is wrong with them, and the directory of trusted CAs that says so. */
export interface BadCertificates {
  directory: string;
  byFault: Record<string, { cert: string; key: string }>;
  remove(): Promise<void>;
}

/** Issues them with the CA of the demo identities (`pki` is its folder); one of them stands in the CA's CRL. */
export async function issueBadCertificates(pki: string): Promise<BadCertificates> {
  const issuer = await demoCa(pki);
  const other = await issueCertificate({ subject: '/DC=org/DC=else/CN=CA', purpose: 'ca' });
  const bound = await issueCertificate({ subject: '/DC=org/DC=bound/CN=CA', purpose: 'ca' });
  const client = { subject: ALICE, purpose: 'client', issuer } as const;
  const revoked = await issueCertificate(client);
  const issued: Record<string, IssuedCertificate> = {
    'unknown user': await issueCertificate({ ...client, subject: '/DC=org/DC=grid/CN=nobody' }),
    expired: await issueCertificate({ ...client, notAfter: new Date(Date.now() - 1_000) }),
    'not valid yet': await issueCertificate({ ...client, notBefore: new Date(Date.now() + DAY) }),
    revoked,
    'untrusted CA': await issueCertificate({ ...client, issuer: other }),
    "outside its CA's policy": await issueCertificate({ ...client, issuer: bound }),
    'self-signed': await issueCertificate({ subject: ALICE, purpose: 'client' }),
    'for servers only': await issueCertificate({ ...client, purpose: 'server' }),
  };
  const directory = await mkdtemp(join(tmpdir(), 'gridgate-ca-'));
  await copyFile(join(pki, 'ca.crt'), join(directory, 'ca.pem'));
  await symlink('ca.pem', join(directory, '0a1b2c3d.0'));
  const list = issueRevocationList({ issuer, revoked: [revoked] });
  await writeFile(join(directory, '0a1b2c3d.r0'), list);
  await writeFile(join(directory, 'bound.pem'), bound.certificatePem);
  await writeFile(
    join(directory, 'bound.namespaces'),
    'TO Issuer SELF PERMIT Subject "/DC=org/DC=bound/.*"\n',
  );
  const byFault = Object.fromEntries(
    Object.entries(issued).map(([fault, one]) => [
      fault,
      { cert: one.certificatePem, key: one.keyPem },
    ]),
  );
  return { directory, byFault, remove: () => rm(directory, { recursive: true, force: true }) };
}

/** A client certificate of the same CA. */
export async function issueFor(pki: string, name: string): Promise<{ cert: string; key: string }> {
  const issuer = await demoCa(pki);
  const one = await issueCertificate({ subject: subjectOf(name), purpose: 'client', issuer });
  return { cert: one.certificatePem, key: one.keyPem };
}

async function demoCa(pki: string): Promise<Pick<IssuedCertificate, 'certificatePem' | 'keyPem'>> {
  const [certificatePem = '', keyPem = ''] = await Promise.all(
    ['ca.crt', 'ca.key'].map((name) => readFile(join(pki, name), 'utf8')),
  );
  return { certificatePem, keyPem };
}
