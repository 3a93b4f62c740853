import { Injectable } from '@nestjs/common';
import { Audit } from '#src/audit/index.js';
import { plainInScopes, StorageTokens } from '#src/auth/index.js';
import { Problem } from '#src/kernel/index.js';
import {
  addressOf,
  audienceOf,
  hasAddress,
  RegistryService,
  removesBytes,
  type AddressedElement,
} from '#src/registry/index.js';
import { ElementFault } from './element-fault.js';
import { storedFault } from './stored-fault.js';
import { StorageElements } from './storage-elements.js';

const MAX_S3_BYTES = 5 * 1024 ** 3;
/** An element that has not removed something by then may still do so later. */
const REMOVAL_MS = 30_000;
const NO_NAME = 'its name has characters that storage services do not understand in tokens';

/** An element does not answer: whoever stores the file asks again. */
export class ElementAwayError extends Error {
  constructor(
    readonly se: string,
    text: string,
  ) {
    super(text);
  }
}

/** True also where what opens the element cannot be read, as the keys of S3: it is no fault of the file, and others may take it. */
export function isAway(error: unknown): error is Problem {
  return error instanceof Problem && error.code === 'service.unavailable';
}

/** Storage elements as files of jobs meet them: which take a file, what lies in its way, and what has arrived. */
@Injectable()
export class OutputElements {
  constructor(
    private readonly registry: RegistryService,
    private readonly tokens: StorageTokens,
    private readonly elements: StorageElements,
    private readonly audit: Audit,
  ) {}

  /** The first that takes the file, in the order of `ses`, or of the registry; or why none does. */
  async next(
    vo: string | undefined,
    { path, size, ses }: { path: string; size: number; ses?: readonly string[] | undefined },
    tried: ReadonlySet<string>,
  ): Promise<AddressedElement | string> {
    const registry = await this.registry.current();
    const all = registry.storageElements().filter(hasAddress);
    const wanted = ses ? ses.flatMap((se) => all.find(({ name }) => name === se) ?? []) : all;
    const takes = wanted.filter(
      (element) =>
        !tried.has(element.name) &&
        vo !== undefined &&
        element.vos.includes(vo) &&
        addressOf(element, path) !== undefined,
    );
    const named = takes.filter(({ kind }) => kind === 's3' || plainInScopes(path) === path);
    const found = named.find((element) =>
      element.kind === 's3' ? size <= MAX_S3_BYTES : this.tokens.mayBeFor(audienceOf(element)),
    );
    if (found) return found;
    if (takes.length > 0 && named.length === 0) return NO_NAME;
    const isLarge = named.some(({ kind }) => kind === 's3') && size > MAX_S3_BYTES;
    return isLarge ? 'it is larger than 5 GiB' : 'no storage element takes it';
  }

  /** Where the file lies there. Undefined: nowhere. */
  async at(
    se: string,
    path: string,
  ): Promise<{ element: AddressedElement; url: string } | undefined> {
    const element = (await this.registry.current()).storageElement(se);
    if (!element || !hasAddress(element)) return undefined;
    const url = addressOf(element, path);
    return url === undefined ? undefined : { element, url };
  }

  /**
   * Why a file cannot be written there. A part of it from an earlier try is removed, which what lets bytes in cannot overwrite; what else
   * lies there is not ours. Throws ElementAwayError while that cannot be said.
   */
  async makeWay(se: string, path: string, wasLetIn: boolean): Promise<string | undefined> {
    return this.ask(se, path, async (element) => {
      if (wasLetIn && removesBytes(element)) return this.remove(element, path);
      const stored = await this.elements.stat(element, path);
      return stored && `something lies at ${se} where ${path} would be`;
    });
  }

  /** Why what lies there is not these bytes. Throws ElementAwayError while that cannot be said. */
  async fault(
    se: string,
    path: string,
    bytes: { size: number | bigint; adler32: string },
  ): Promise<string | undefined> {
    return this.ask(se, path, async (element) => {
      const fault = await storedFault(this.elements, { element, path }, bytes);
      return fault && `${se} ${fault}`;
    });
  }

  /** One that may still do it when the bytes have come anew is not asked to take them. */
  private async remove(element: AddressedElement, path: string): Promise<string | undefined> {
    const { name: se } = element;
    try {
      await this.elements.remove(element, path, AbortSignal.timeout(REMOVAL_MS));
      this.audit.done('catalogue.bytes-removed', { path, se });
      return undefined;
    } catch (error) {
      const isLate = error instanceof DOMException && error.name === 'TimeoutError';
      const isUnsure = error instanceof ElementFault && error.kind === 'away' && error.wasAsked;
      if (!isLate && !isUnsure) throw error;
      return `${se} does not say whether it has removed what lay at ${path}`;
    }
  }

  private async ask(
    se: string,
    path: string,
    look: (element: AddressedElement) => Promise<string | undefined>,
  ): Promise<string | undefined> {
    const place = await this.at(se, path);
    if (!place) return `${se} has no address any more`;
    try {
      return await look(place.element);
    } catch (error) {
      if (error instanceof ElementFault && error.kind !== 'away') return error.detail;
      if (isAway(error)) throw new ElementAwayError(se, error.detail);
      throw error;
    }
  }
}
