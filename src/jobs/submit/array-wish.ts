import { Problem, type JsonValue } from '#src/kernel/index.js';
import type { ReceivedManifest } from './manifest-texts.js';

/** Key of a request that makes its jobs an array. */
export const ARRAY_KEY = 'array';

/**
 * Whether the jobs of a request are to be an array: by the query, beside `manifests`, or in the manifest of a request that
 * has one. It belongs to the request and is never part of a manifest.
 */
export class ArrayWish {
  /** Meant once all manifests are read. */
  isWanted = false;
  /** JobName of the first manifest as it was sent. */
  name: string | undefined;
  private count = 0;
  /** Place of the first manifest that has the key. */
  private within: string | undefined;

  /** What stands beside the manifests, or in the query. Throws Problem 400 for anything but true and false. */
  take(value: JsonValue): void {
    if (typeof value !== 'boolean') throw Problem.invalidField(ARRAY_KEY, 'must be true or false');
    this.isWanted ||= value;
  }

  /** The manifest without the key. Throws Problem 400 for a value that is neither true nor false. */
  read(received: ReceivedManifest): ReceivedManifest {
    const { manifest, place } = received;
    this.count += 1;
    const name = manifest['JobName'];
    if (this.count === 1 && typeof name === 'string') this.name = name;
    if (!Object.hasOwn(manifest, ARRAY_KEY)) return received;
    const { [ARRAY_KEY]: value, ...rest } = manifest;
    this.within ??= `${place}${ARRAY_KEY}`;
    this.take(value as JsonValue);
    return { manifest: rest, place };
  }

  /** To be called when all are read. Throws Problem 400 for a key that stands in one of several manifests. */
  finish(): void {
    if (this.within === undefined || this.count === 1) return;
    const problem = 'belongs to the whole request: beside manifests, or in the query';
    throw Problem.invalidField(this.within, problem);
  }
}
