import { parseJson, stringifyJson } from '#src/kernel/json.js';
import type { FileAttributesResponse, ReplicaResponse } from './generated/schemas.js';
import type { CallOptions } from './request/operation-request.js';
import type { GridClient } from './grid-client.js';
import { GridError } from './grid-error.js';
import { encodePath } from './request/encoding.js';

/** A file of the catalogue with where its copies lie, by storage element. */
export interface FileEntry {
  attributes: FileAttributesResponse;
  replicas: Record<string, ReplicaResponse>;
}

/** A line of the answer to a bulk request, as far as a refusal has these members. */
interface FailedLine {
  status?: number;
  code?: string;
  detail?: string;
}

const PAGE_SIZE = 10_000;

/**
 * A file with its replicas, which only the listing of its directory has: pages of it are read until the file is found.
 * Throws GridError, 404 `catalogue.file-not-found` when there is none.
 */
export async function readFileEntry(
  client: GridClient,
  path: string,
  options: CallOptions = {},
): Promise<FileEntry> {
  const at = path.lastIndexOf('/');
  const [directory, name] = [path.slice(0, at) || '/', path.slice(at + 1)];
  await client.readFileAttributes(encodePath(path), options); // says what is wrong with the path
  let after: string | undefined;
  do {
    const query = { verbose: true, limit: PAGE_SIZE, ...(after !== undefined && { after }) };
    const listing = `/filecatalogue/directory/${encodePath(directory)}`;
    const { answer, next } = await client.raw(
      { method: 'GET', path: listing, query, answer: 'json' },
      options,
    );
    const page = parseJson(await answer.text()) as unknown as {
      Files: Record<string, { MetaData: FileAttributesResponse; Replicas?: FileEntry['replicas'] }>;
    };
    const found = Object.hasOwn(page.Files, name) ? page.Files[name] : undefined;
    if (found) return { attributes: found.MetaData, replicas: found.Replicas ?? {} };
    after = new URL(next ?? '', 'http://x').searchParams.get('after') ?? undefined;
  } while (after !== undefined);
  const detail = `There is no file ${path}`;
  throw new GridError(404, { code: 'catalogue.file-not-found', detail });
}

/**
 * Gives a file another path: it is registered there with its attributes, replicas and own metadata, then removed here. Not
 * one step for the service: what fails in between leaves both names, never none. Owner and group stay, which only a catalogue
 * manager may do with those of others. Throws GridError, 409 `catalogue.exists`
 * when there is a file already, or bytes of it lie at a storage element by its path; 403 `catalogue.owner-forbidden` (with `owner`) or `catalogue.forbidden` before anything is changed.
 */
export async function moveFile(
  client: GridClient,
  from: string,
  to: string,
  options: CallOptions = {},
): Promise<void> {
  await move(client, { from, to, own: false }, options);
}

/** The same, but owner and group become those of the caller. */
export async function moveFileAsOwn(
  client: GridClient,
  from: string,
  to: string,
  options: CallOptions = {},
): Promise<void> {
  await move(client, { from, to, own: true }, options);
}

async function move(
  client: GridClient,
  { from, to, own }: { from: string; to: string; own: boolean },
  options: CallOptions,
): Promise<void> {
  const { attributes, replicas } = await readFileEntry(client, from, options);
  if (await isFile(client, to, options)) {
    throw new GridError(409, { code: 'catalogue.exists', detail: `${to} is there already` });
  }
  await refuseAddressed(client, from, Object.keys(replicas), options);
  const metadata = await client.readFileMetadata(encodePath(from), {}, options);
  const { Size, Checksum, ChecksumType, GUID, Mode, Owner, OwnerGroup } = attributes;
  const line = {
    ...{ kind: 'file', path: to, size: Size, mode: Mode },
    ...(!own && { owner: Owner, group: OwnerGroup }),
    ...(Checksum !== '' && { checksum: Checksum }),
    ...(ChecksumType !== '' && { checksumType: ChecksumType }),
    ...(GUID !== '' && { guid: GUID }),
    replicas: Object.entries(replicas).map(([se, { PFN }]) =>
      PFN === '' ? { se } : { se, pfn: PFN },
    ),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
  const answer = await client.applyBulk(`${stringifyJson(line)}\n`, options);
  const [first = ''] = (await answer.text()).split('\n');
  const { status, code, detail = '' } = parseJson(first) as FailedLine;
  if (status !== undefined) {
    const isOfOwner = code === 'catalogue.owner-forbidden';
    throw new GridError(status, {
      ...(code !== undefined && { code }),
      ...(isOfOwner && { owner: Owner }),
      detail: isOfOwner
        ? `${from} belongs to ${Owner} (${OwnerGroup}), and only a catalogue manager may move it so that this stays`
        : `${to}: ${detail}`,
    });
  }
  await client.deleteFile(encodePath(from), options).catch(unlessGone);
}

/** An earlier try, whose answer was lost, may have removed it. */
function unlessGone(error: unknown): void {
  if (!(error instanceof GridError) || error.status !== 404) throw error;
}

/** Bytes whose address follows from the path stay where they are, and those that came through the service would be removed with it. */
async function refuseAddressed(
  client: GridClient,
  path: string,
  ses: readonly string[],
  options: CallOptions,
): Promise<void> {
  for (const se of ses) {
    try {
      await client.accessFiles({ paths: [path], right: 'read', se, seconds: 1 }, options);
    } catch (error) {
      // It has no address there.
      if (error instanceof GridError && [400, 409].includes(error.status)) continue;
      throw error;
    }
    const detail = `${path} lies at ${se} by its path: fetch it, put it under the other path with its metadata, then remove this one`;
    throw new GridError(409, { code: 'catalogue.exists', detail });
  }
}

async function isFile(client: GridClient, path: string, options: CallOptions): Promise<boolean> {
  try {
    await client.readFileAttributes(encodePath(path), options);
    return true;
  } catch (error) {
    if (error instanceof GridError && error.status === 404) return false;
    throw error;
  }
}
