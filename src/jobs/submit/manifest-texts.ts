import {
  isJsonObject,
  Problem,
  stringifyJson,
  type JsonObject,
  type Violation,
} from '#src/kernel/index.js';
import type { Config } from '#src/config/index.js';
import { decodeText, parseJsonText } from '#src/http/index.js';
import { isBlank } from './manifest-splitter.js';
import { withWrittenNumbers } from './written-numbers.js';

const MAX_VIOLATIONS = 100;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
/** Of too many manifests so many times the limit are counted: after that nothing is looked at any more. */
const MOST_COUNTED = 2;
/** JSON written anew is at most so many times as long: `1e20` becomes 21 digits. */
const MOST_GROWTH = 6;

/** A manifest of a submit and how faults name it when it is one of several. */
export interface ReceivedManifest {
  manifest: JsonObject;
  place: string;
}

/**
 * Reads the texts of several manifests one by one. After the first fault nothing is read any more but everything is
 * counted, since most clients read an answer only after they have sent everything.
 */
export class ManifestTexts {
  /** Manifests so far. */
  count = 0;
  private line = 0;
  private fault: Problem | undefined;
  private readonly violations: Violation[] = [];

  /** `form`: parts or fields, lines of which blank ones do not count, or elements of the list `manifests`. */
  constructor(
    private readonly limits: Pick<Config, 'maxManifests' | 'maxManifestBytes'>,
    private readonly nameOf: (index: number, line: number) => string,
    private readonly form: 'parts' | 'lines' | 'list' = 'parts',
  ) {}

  /** The next manifest; undefined for a blank line, and from a fault on. `bytes` are undefined when there are too many. */
  read(bytes: Buffer | undefined): ReceivedManifest | undefined {
    this.line += 1;
    if (this.form === 'lines' && bytes && isBlank(withoutMark(bytes))) return undefined;
    this.count += 1;
    if (this.fault || this.count > this.limits.maxManifests) return undefined;
    const index = this.count - 1;
    const name = this.nameOf(index, this.line);
    try {
      const manifest = this.parse(bytes, name, index);
      const place = this.form === 'lines' ? `line ${this.line}.` : `manifests[${index}].`;
      return manifest && { manifest, place };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.fault = error;
      return undefined;
    }
  }

  /** True when there are so many too many that the rest need not be looked at. */
  get isOverflowing(): boolean {
    return this.count >= this.limits.maxManifests * MOST_COUNTED;
  }

  /** To be called at the end. Throws Problem 413 for too many or too long ones, 400 for the first that is not JSON. */
  finish(): void {
    const { maxManifests } = this.limits;
    if (this.count > maxManifests) {
      const sent = this.isOverflowing ? `At least ${this.count}` : this.count;
      const text = `${sent} manifests were sent, at most ${maxManifests} are allowed`;
      throw new Problem('request.too-large', text, { members: { limit: maxManifests } });
    }
    if (this.fault) throw this.fault;
    if (this.violations.length > 0) throw Problem.invalid(this.violations);
  }

  private parse(bytes: Buffer | undefined, name: string, index: number): JsonObject | undefined {
    const limit = this.limits.maxManifestBytes;
    const tooLarge = (): Problem =>
      new Problem('request.too-large', `${name} is larger than ${limit} bytes`, {
        members: { limit },
      });
    if (!bytes) throw tooLarge();
    const text = decodeText(bytes, name);
    const value = parseJsonText(text, name);
    if (!isJsonObject(value)) {
      if (this.form !== 'list') {
        throw new Problem('request.malformed-body', `${name} must be a JSON object`);
      }
      if (this.violations.length < MAX_VIOLATIONS) {
        this.violations.push({ field: `manifests[${index}]`, problem: 'must be an object' });
      }
      return undefined;
    }
    const mayBeTooLarge = bytes.length * MOST_GROWTH > limit;
    if (mayBeTooLarge && Buffer.byteLength(stringifyJson(value)) > limit) throw tooLarge();
    return withWrittenNumbers(value, text);
  }
}

function withoutMark(bytes: Buffer): Buffer {
  return bytes.subarray(0, 3).equals(BYTE_ORDER_MARK) ? bytes.subarray(3) : bytes;
}
