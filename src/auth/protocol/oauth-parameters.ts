import { OAuthProblem } from '#src/kernel/index.js';
import { hasBody, queryValuesOf, readForm, type HttpRequest } from '#src/platform/index.js';

// Parameters of OAuth are short; a subject token of an identity provider is the longest.
const MAX_FORM_BYTES = 256 * 1024;

/**
 * Parameters of a request under /oauth2 (RFC 6749 §3.1, §3.2): each at most once, unknown ones ignored, an empty
 * value counts as absent.
 */
export class OAuthParameters {
  private constructor(private readonly values: ReadonlyMap<string, string>) {}

  /** Those of the query string. Throws 400 `invalid_request` for a repeated one. */
  static ofQuery(request: HttpRequest): OAuthParameters {
    return OAuthParameters.from(queryEntries(request));
  }

  /** Those of the query string and of the form body together. */
  static async of(request: HttpRequest): Promise<OAuthParameters> {
    const query = queryEntries(request);
    if (!hasBody(request)) return OAuthParameters.from(query);
    const form = await readForm(request, MAX_FORM_BYTES);
    const body = form.keys().flatMap((key) => form.all(key).map((value) => [key, value] as const));
    return OAuthParameters.from([...query, ...body]);
  }

  /** From pairs of name and value. */
  static from(entries: Iterable<readonly [string, string]>): OAuthParameters {
    const values = new Map<string, string>();
    for (const [name, value] of entries) {
      if (values.has(name)) {
        throw new OAuthProblem('invalid_request', `The parameter ${name} is given more than once`);
      }
      values.set(name, value);
    }
    return new OAuthParameters(values);
  }

  /** The value, undefined when absent or empty. */
  optional(name: string): string | undefined {
    const value = this.values.get(name);
    return value === '' ? undefined : value;
  }

  /** The value. Throws 400 `invalid_request` when absent or empty. */
  required(name: string): string {
    const value = this.optional(name);
    if (value === undefined) {
      throw new OAuthProblem('invalid_request', `The parameter ${name} is missing`);
    }
    return value;
  }
}

function queryEntries(request: HttpRequest): (readonly [string, string])[] {
  const query = queryValuesOf(request);
  return query.keys().flatMap((key) => query.all(key).map((value) => [key, value] as const));
}
