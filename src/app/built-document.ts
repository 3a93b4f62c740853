import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { OpenAPIObject } from '@nestjs/swagger';
import { stringify } from 'yaml';

/** Stands in the files for the public URL of the installation, which the build does not know. */
const ANY_URL = 'https://public-url.invalid';
const FILES = {
  json: new URL('openapi.json', import.meta.url),
  yaml: new URL('openapi.yaml', import.meta.url),
};

/** The forms of the OpenAPI document, as texts. */
export type DocumentForms = Record<keyof typeof FILES, string>;

/**
 * Writes the OpenAPI document beside this module, once, when the service is built: to make it from the routes, and YAML of it, takes
 * a tenth of a second or two in which a server answers nobody. `describe` makes it for a public URL.
 */
export async function writeBuiltDocument(
  describe: (publicUrl: string) => Promise<OpenAPIObject>,
): Promise<void> {
  const document = await describe(ANY_URL);
  writeFileSync(FILES.json, JSON.stringify(document));
  writeFileSync(FILES.yaml, stringify(document, { aliasDuplicateObjects: false }));
}

/** The document for a public URL as the build has written it; undefined when it has not, as while somebody edits the routes. */
export function readBuiltDocument(publicUrl: string): DocumentForms | undefined {
  if (!existsSync(FILES.json) || !existsSync(FILES.yaml)) return undefined;
  const read = (file: URL): string => readFileSync(file, 'utf8').replaceAll(ANY_URL, publicUrl);
  return { json: read(FILES.json), yaml: read(FILES.yaml) };
}
