import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Daemon, waitUntil } from './daemon.js';

const MODULES = '/usr/lib/apache2/modules';
const LOADED = ['mpm_event', 'authn_core', 'authz_core', 'authz_user', 'headers', 'dir', 'env'];

/** What stands between a browser and the page. */
export interface ProtectedPage {
  port: number;
  issuer: string;
  /** PEM file. */
  ca: string;
  clientId: string;
  clientSecret: string;
}

/** Apache with Debian's mod_auth_openidc before a page that it shows to those only who have signed in. */
export class OpenidApache {
  private constructor(
    private readonly daemon: Daemon,
    private readonly directory: string,
    readonly url: string,
  ) {}

  static async start(page: ProtectedPage): Promise<OpenidApache> {
    const directory = await mkdtemp(join(tmpdir(), 'grid-apache-'));
    await chmod(directory, 0o755);
    await mkdir(join(directory, 'www', 'private'), { recursive: true });
    await writeFile(join(directory, 'www', 'private', 'index.html'), 'what only members see');
    await writeFile(join(directory, 'www', 'index.html'), 'what everybody sees');
    await copyFile(page.ca, join(directory, 'ca.crt'));
    await writeFile(join(directory, 'apache.conf'), configuration(page, directory));
    const args = ['-D', 'FOREGROUND', '-f', join(directory, 'apache.conf')];
    const log = join(directory, 'daemon.log');
    const daemon = new Daemon({ program: 'apache2', args, log });
    daemon.start();
    const apache = new OpenidApache(daemon, directory, `http://localhost:${page.port}`);
    try {
      await waitUntil(
        async () => !daemon.isRunning || (await accepts(page.port)),
        'apache to listen',
      );
      if (!daemon.isRunning) throw new Error(`apache ended: ${await apache.log()}`);
    } catch (error) {
      await apache.remove();
      throw error;
    }
    return apache;
  }

  /** What it has written. */
  async log(): Promise<string> {
    const texts = await Promise.all(
      ['daemon.log', 'error.log'].map((name) =>
        readFile(join(this.directory, name), 'utf8').catch(() => ''),
      ),
    );
    return texts.join('');
  }

  async remove(): Promise<void> {
    await this.daemon.end();
    await rm(this.directory, { recursive: true, force: true });
  }
}

function configuration(page: ProtectedPage, directory: string): string {
  const url = `http://localhost:${page.port}`;
  return `
ServerRoot ${directory}
ServerName localhost
Listen 127.0.0.1:${page.port}
PidFile ${directory}/apache.pid
DefaultRuntimeDir ${directory}
ErrorLog ${directory}/error.log
${LOADED.map((name) => `LoadModule ${name}_module ${MODULES}/mod_${name}.so`).join('\n')}
LoadModule auth_openidc_module ${MODULES}/mod_auth_openidc.so
User nobody
Group nogroup
DocumentRoot ${directory}/www
OIDCProviderMetadataURL ${page.issuer}/.well-known/openid-configuration
OIDCCABundlePath ${directory}/ca.crt
OIDCClientID ${page.clientId}
OIDCClientSecret ${page.clientSecret}
OIDCRedirectURI ${url}/private/callback
OIDCDefaultLoggedOutURL ${url}/index.html
OIDCCryptoPassphrase a-passphrase-for-one-test
OIDCScope "openid profile email"
OIDCPKCEMethod S256
OIDCRemoteUserClaim preferred_username
<Location />
  Require all granted
</Location>
<Location /private>
  AuthType openid-connect
  Require valid-user
  Header always set X-User "expr=%{REMOTE_USER}"
  Header always set X-Mail "%{OIDC_CLAIM_email}e"
  Header always set X-Class "%{OIDC_CLAIM_acr}e"
</Location>
`;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
