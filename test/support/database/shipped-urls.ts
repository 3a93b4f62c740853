import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** A database URL as an example of the project writes it. */
export interface ShippedUrl {
  file: string;
  url: string;
}

const PLACES = ['README.md', 'docs', 'deploy', 'Dockerfile'];
/** Pages that speak about URLs instead of giving one to copy. */
const GENERATED = /configuration\.md$|openapi\.json$/;
const URL_TEXT = /postgres(?:ql)?:\/\/[^\s'"`<>|…]+(?!…)/g;

/** Every database URL of README, docs and deploy. */
export function shippedUrls(root: string): ShippedUrl[] {
  return PLACES.flatMap((place) => filesBelow(join(root, place)))
    .filter((path) => !GENERATED.test(path))
    .flatMap((path) => {
      const found = readFileSync(path, 'utf8').match(URL_TEXT) ?? [];
      return [...new Set(found)].map((url) => ({ file: path.slice(root.length + 1), url }));
    });
}

function filesBelow(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path).flatMap((name) => filesBelow(join(path, name)));
}

/** The places that stand for those of the examples, so that their URLs lead to a database of the test. */
export interface Stage {
  password: string;
  port: number;
  directory: string;
  ca: string;
  clientCert: string;
  clientKey: string;
}

/** The URL with the test's password, host, port, socket directory and files in the places of the example's. */
export function staged(url: string, stage: Stage): string {
  const port = String(stage.port);
  const needsCa = url.includes('sslmode=verify') && !url.includes('sslrootcert=');
  // A public CA of the example is the test's own CA here.
  return `${url}${needsCa ? '&sslrootcert=public' : ''}`
    .replace(/:(PASSWORD|\$\{POSTGRES_PASSWORD:\?\})@/, `:${encodeURIComponent(stage.password)}@`)
    .replace(/@(postgres|db\.example\.org|pgbouncer)(:\d+)?(?=\/)/, `@localhost:${port}`)
    .replace(/\[[0-9a-f:]+\](:\d+)?(?=\/)/, `localhost:${port}`)
    .replace(
      /%2F(var%2F)?run%2Fpostgresql(:\d+)?/,
      `${encodeURIComponent(stage.directory)}:${port}`,
    )
    .replace(/host=\/(var\/)?run\/postgresql/, `host=${stage.directory}&port=${port}`)
    .replace(/sslrootcert=[^&]+/, `sslrootcert=${stage.ca}`)
    .replace(/sslcert=[^&]+/, `sslcert=${stage.clientCert}`)
    .replace(/sslkey=[^&]+/, `sslkey=${stage.clientKey}`);
}
