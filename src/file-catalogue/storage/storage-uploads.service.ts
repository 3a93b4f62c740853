import { Injectable } from '@nestjs/common';
import {
  borderOf,
  plainInScopes,
  requirePath,
  StorageTokens,
  type Principal,
} from '#src/auth/index.js';
import { Problem } from '#src/kernel/index.js';
import { Database, type Transaction } from '#src/database/index.js';
import {
  addressOf,
  audienceOf,
  hasAddress,
  RegistryService,
  type AddressedElement,
} from '#src/registry/index.js';
import { CataloguePolicy } from '../access/catalogue.policy.js';
import { CatalogueNames } from '../names/catalogue-names.service.js';
import { filePathFault } from '../path/catalogue-path.js';
import { countHeld } from '../writing/catalogue-bytes.repository.js';
import type { FileReserve } from '../writing/catalogue-line.js';
import { CatalogueWriter } from '../writing/catalogue-writer.service.js';
import { giveUp, letIn } from './bytes.repository.js';
import type { AccessRequest, ContentRequest } from './access.request.js';
import type { FileAccessResponse } from './access.response.js';
import { unknownElement } from './known-element.js';
import { StorageElements } from './storage-elements.js';
import { StorageKeys, type KeyPlace } from './storage-keys.js';

/** Paths that a user holds for bytes at once. */
const MAX_HELD = 10_000;
/** So long after the end of a token storages may still take it: they remember whom they have let in. */
const LATE_MS = 120_000;
/** Storage elements are looked at for so many paths at once. */
const LOOKS = 8;
/** Largest object that S3 takes in one piece. */
const MAX_S3_BYTES = 5 * 1024 ** 3;

/** Where bytes are to be written. */
interface Target extends KeyPlace {
  path: string;
  size?: number | bigint | undefined;
}

/** What lets bytes of files in at storage elements, and holds the paths of these files meanwhile. */
@Injectable()
export class StorageUploads {
  constructor(
    private readonly registry: RegistryService,
    private readonly policy: CataloguePolicy,
    private readonly names: CatalogueNames,
    private readonly tokens: StorageTokens,
    private readonly keys: StorageKeys,
    private readonly writer: CatalogueWriter,
    private readonly elements: StorageElements,
    private readonly database: Database,
  ) {}

  /**
   * Holds all of the paths, or none, until the answer has ended; in their order where each may be written, and what lets it in there. Throws
   * Problem 400 for what is no path, an unknown element and missing contents, 409 `catalogue.no-address`, 429 for too many, and
   * whatever a file of this path would be refused with.
   */
  async toCreate(principal: Principal, request: AccessRequest): Promise<FileAccessResponse[]> {
    const targets = await this.targetsOf(principal, request);
    const end = this.tokens.endOf(principal, request.seconds);
    const keys = await this.keys.of(principal, targets, { right: 'create', end });
    const ids = await this.names.ensure(
      'se',
      targets.map(({ element }) => element.name),
    );
    const held = targets.map((target) => {
      const key = keys.get(target.url);
      const seId = ids.get(target.element.name);
      if (!key || seId === undefined) throw new Error(`nothing opens ${target.path}`);
      return { ...target, key, seId };
    });
    const lines = held.map(({ path, size, content, seId, key: { expires } }): FileReserve => {
      const endsAt = new Date(Date.parse(expires) + LATE_MS);
      return { kind: 'file', op: 'reserve', path, seId, size, md5: content?.md5, endsAt };
    });
    const actor = await this.policy.writerOf(principal);
    const outcomes = await this.writer.applyTogether(actor, lines, async (transaction) => {
      await refuseTooMany(transaction, actor.userId);
    });
    const fresh = held.filter((_target, index) => outcomes[index] !== 'unchanged');
    await this.letIn(fresh, actor.userId);
    return held.map(({ path, element, url, size, key }) => ({
      ...{ path, se: element.name, url, ...key },
      ...{ ...(size !== undefined && { size }), checksum: {} },
    }));
  }

  /** Where nothing lies yet: what lies there is not ours, and would be removed as if it were. */
  private async letIn(
    targets: readonly (Target & { seId: number })[],
    ownerId: number,
  ): Promise<void> {
    const places = targets.map(({ path, seId, content }) => ({ path, seId, md5: content?.md5 }));
    const waiting = targets.values();
    let isOver = false;
    try {
      const look = async (): Promise<void> => {
        for (const { element, path } of waiting) {
          if (isOver) return;
          if (await this.elements.stat(element, path)) throw lies(element, path);
        }
      };
      await Promise.all(Array.from({ length: LOOKS }, look));
    } catch (error) {
      isOver = true;
      await giveUp(this.database, { places, ownerId });
      throw error;
    }
    if (targets.length === 0) return;
    if ((await letIn(this.database, { places, ownerId })) === targets.length) return;
    throw Problem.unavailable('The storage elements took too long to answer');
  }

  private async targetsOf(
    principal: Principal,
    { paths, se, contents, presigned = false }: AccessRequest,
  ): Promise<Target[]> {
    if (contents && contents.length !== paths.length) {
      throw Problem.invalidField('contents', 'are not as many as paths');
    }
    const registry = await this.registry.current();
    const border = borderOf(principal);
    const known = registry
      .storageElements()
      .filter(hasAddress)
      .filter(({ vos }) => border === undefined || vos.includes(border))
      .filter((one) => one.kind === 's3' || this.tokens.mayBeFor(audienceOf(one)));
    const chosen = known.filter(({ name }) => se === undefined || name === se);
    if (se !== undefined && chosen.length === 0) throw unknownElement(se);
    const usable = chosen.filter(({ kind }) => !presigned || kind === 's3');
    const any = presigned ? 'No S3 store takes' : 'No storage element with an address takes';
    const one = presigned ? 'has no signed address for' : 'takes no file';
    const none = se === undefined ? any : `${se} ${one}`;
    return paths.map((path, index) => {
      const fault = filePathFault(path);
      if (fault !== undefined) throw Problem.invalidField(`paths[${index}]`, fault);
      requirePath(principal, 'create', { path, kind: 'file' });
      const content = contents?.[index];
      const { element, url } = placeOf(path, usable, none);
      const target = { path, element, url, opens: path, size: content?.size };
      if (element.kind !== 's3') return target;
      return { ...target, content: signedContent(element, content, `contents[${index}]`) };
    });
  }
}

async function refuseTooMany(transaction: Transaction, userId: number): Promise<void> {
  if ((await countHeld(transaction, userId)) <= MAX_HELD) return;
  const text = `You have ${MAX_HELD} uploads under way or being removed; register their files, or wait until they are gone`;
  throw new Problem('rate.limited', text, { retryAfterSeconds: 60 });
}

function lies({ name }: AddressedElement, path: string): Problem {
  return new Problem('catalogue.exists', `Something lies at ${name} where ${path} would be`);
}

/** The first of the elements that takes the file; `none` begins the sentence when none does. */
function placeOf(
  path: string,
  elements: readonly AddressedElement[],
  none: string,
): { element: AddressedElement; url: string } {
  const places = elements.flatMap((element) => {
    const url = addressOf(element, path);
    return url === undefined ? [] : [{ element, url }];
  });
  const place = places.find(({ element }) => element.kind === 's3' || plainInScopes(path) === path);
  if (place) return place;
  const text =
    places.length > 0
      ? `Its name has characters that storage services do not understand in tokens: ${path}`
      : `${none} ${path}`;
  throw new Problem('catalogue.no-address', text);
}

/** What is signed, so that nothing else can be written. */
function signedContent(
  { name }: AddressedElement,
  content: ContentRequest | undefined,
  field: string,
): { size: number; md5: string } {
  if (content?.md5 === undefined) {
    const member = content === undefined ? field : `${field}.md5`;
    throw Problem.invalidField(member, `is missing, which ${name} needs before it takes bytes`);
  }
  if (content.size > MAX_S3_BYTES) {
    throw Problem.invalidField(
      `${field}.size`,
      `is larger than 5 GiB, the most that ${name} takes`,
    );
  }
  return { size: Number(content.size), md5: content.md5 };
}
