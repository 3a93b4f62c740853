import { parseJson, stringifyJson } from '#src/kernel/json.js';
import type {
  JobListResponse,
  JobResponse,
  ManifestRequest,
  SubmittedJobsResponse,
  UserListResponse,
  UserResponse,
} from './generated/schemas.js';
import { Operations, type ListJobsQuery, type ListUsersQuery } from './generated/operations.js';
import { followedOutput, type OutputEvent } from './follow-output.js';
import { GridError } from './grid-error.js';
import {
  JobWatch,
  type JobChange,
  type JobPage,
  type WatchedJobs,
  type WatchOptions,
} from './job-watch.js';
import { encodePath } from './request/encoding.js';
import { linesOf } from './request/lines.js';
import {
  pathPart,
  queryText,
  type CallOptions,
  type Conditions,
  type OperationRequest,
} from './request/operation-request.js';

/** How a client is set up. */
export interface GridClientOptions {
  /** Base URL of the service, for example `https://localhost:8443`. */
  url: string;
  /** The access token, or what gives one before each call; nothing for operations that need none. */
  token?: string | (() => string | undefined | Promise<string | undefined>);
  /** Called when the service says 401; the call is repeated once with the token that it gives. */
  renew?: () => Promise<string | undefined>;
  /** Replaces the platform's own fetch. */
  fetch?: typeof fetch;
  /** Reads an answer in place of {@link parseJson}: `JSON.parse` rounds integers beyond 2^53. Throws when the text is no JSON. */
  parse?: (text: string) => unknown;
}

/** A directory that a search has found. */
export interface FoundDirectory {
  /** Path in the catalogue. */
  path: string;
  /** Files in it and below. */
  files: number;
  /** Bytes of these files. */
  size: number;
}

/** An answer with its headers, for paging and downloads. */
export interface RawAnswer {
  answer: Response;
  /** Path of the next page, from `Link: rel="next"`. */
  next: string | undefined;
}

/**
 * Calls a Gridgate. Every operation of the OpenAPI document is a method of the same name; a failure throws GridError.
 * Runs in browsers and in Node. An integer beyond 2^53 arrives and is sent as bigint.
 */
export class GridClient extends Operations {
  readonly url: string;

  constructor(private readonly settings: GridClientOptions) {
    super();
    this.url = settings.url.replace(/(?<!\/)\/+$/, '');
  }

  /** Submits one job with files for its input sandbox and answers its id. */
  async submitWithFiles(
    manifest: ManifestRequest,
    files: Iterable<{ name: string; content: Blob }>,
    options: CallOptions = {},
  ): Promise<number> {
    const form = new FormData();
    form.append('manifest', stringifyJson(manifest));
    for (const { name, content } of files) form.append('file', content, name);
    const answer = await this.submitJobs(form, {}, options);
    const jid = 'jids' in answer ? answer.jids[0] : undefined;
    if (jid === undefined) throw new GridError(0, { detail: 'The service named no job' });
    return jid;
  }

  /** Submits many jobs in one request, all or none; one manifest a line, up to GRID_MAX_BULK_BODY bytes. */
  async submitLines(
    manifests: Iterable<ManifestRequest>,
    { dryRun, ...options }: CallOptions & { dryRun?: boolean } = {},
  ): Promise<SubmittedJobsResponse> {
    const lines = Array.from(manifests, (manifest) => `${stringifyJson(manifest)}\n`);
    const query = { ...(dryRun !== undefined && { dryRun }) };
    const type = 'application/x-ndjson';
    const body = new Blob(lines);
    return this.call({ method: 'POST', path: '/jobs', query, body, type, answer: 'json' }, options);
  }

  /** All jobs that match, page by page; any number of them costs the same per page. */
  async *walkJobs(
    query: ListJobsQuery = {},
    options: CallOptions = {},
  ): AsyncGenerator<JobResponse> {
    let path: string | undefined = `/jobs${queryText(query)}`;
    while (path !== undefined) {
      const { answer, next }: RawAnswer = await this.raw(
        { method: 'GET', path, answer: 'json' },
        options,
      );
      yield* (await this.json<JobListResponse>(answer)).jobs;
      path = next;
    }
  }

  /** All users that match, by name, page by page; for tokens with the scope `admin`. */
  async *walkUsers(
    query: ListUsersQuery = {},
    options: CallOptions = {},
  ): AsyncGenerator<UserResponse> {
    let path: string | undefined = `/admin/users${queryText(query)}`;
    while (path !== undefined) {
      const request: OperationRequest = { method: 'GET', path, answer: 'json' };
      const { answer, next }: RawAnswer = await this.raw(request, options);
      yield* (await this.json<UserListResponse>(answer)).users;
      path = next;
    }
  }

  /**
   * The jobs that match, and then every change of them as it happens, until the caller stops: goes on after each interruption,
   * and lists again when the service does not know any more where it was. Throws GridError for what trying again does not help.
   */
  watchJobs(query: WatchedJobs = {}, options: WatchOptions = {}): AsyncGenerator<JobChange> {
    const list = async (path: string, asked: object, call: CallOptions): Promise<JobPage> => {
      const request = { method: 'GET', path, query: asked, answer: 'json' } as const;
      const { answer, next } = await this.raw(request, call);
      const position = answer.headers.get('Grid-Feed-Position');
      if (position === null)
        throw new GridError(501, { detail: 'The service has no feed of jobs' });
      return { jobs: (await this.json<JobListResponse>(answer)).jobs, next, position };
    };
    const raw = (request: OperationRequest, call: CallOptions): Promise<RawAnswer> =>
      this.raw(request, call);
    return new JobWatch({ raw, list }, query, options).changes();
  }

  /** The matching directories below a path, one by one as the service finds them; without conditions all of them. */
  async *findDirectories(
    path: string,
    conditions: Conditions = {},
    options: CallOptions = {},
  ): AsyncGenerator<FoundDirectory> {
    const { answer } = await this.raw(
      {
        method: 'GET',
        path: `/filecatalogue/directory/${encodePath(path)}/search`,
        query: { conditions },
        answer: 'json',
      },
      { ...options, headers: { ...options.headers, Accept: 'application/x-ndjson' } },
    );
    for await (const line of linesOf(answer)) yield this.parsed<FoundDirectory>(line);
  }

  /**
   * What a job writes into a file of its output, piece by piece until it has ended; waits for a job that has not begun, and
   * goes on by itself where the connection breaks. The last event is `end`. Throws GridError.
   */
  async *followOutput(
    jid: number,
    name = 'std.out',
    { headers, ...options }: CallOptions = {},
  ): AsyncGenerator<OutputEvent> {
    const path = `/jobs/${pathPart(jid)}/output/${pathPart(name)}`;
    const query = { follow: true };
    yield* followedOutput(async (last) => {
      const more = {
        Accept: 'text/event-stream',
        ...(last !== undefined && { 'Last-Event-ID': last }),
      };
      const request: OperationRequest = { method: 'GET', path, query, answer: 'json' };
      const { answer } = await this.raw(request, { ...options, headers: { ...headers, ...more } });
      return linesOf(answer, { empty: true });
    });
  }

  /** Any call, for what the methods do not show: headers, streams, conditional requests. Throws GridError from 400 on. */
  async raw(request: OperationRequest, options: CallOptions = {}): Promise<RawAnswer> {
    const { token } = this.settings;
    const first = await this.send(
      request,
      typeof token === 'function' ? await token() : token,
      options,
    );
    const renewed = first.status === 401 ? await this.settings.renew?.() : undefined;
    const answer = renewed === undefined ? first : await this.send(request, renewed, options);
    if (!answer.ok) throw await GridError.of(answer);
    return { answer, next: this.nextPage(answer.headers.get('Link')) };
  }

  /** Makes the call of a method of the interface and answers its body. */
  protected async call<T>(request: OperationRequest, options: CallOptions): Promise<T> {
    const { answer } = await this.raw(request, options);
    if (request.answer === 'json') return this.json<T>(answer);
    if (request.answer === 'blob') return (await answer.blob()) as T;
    await answer.arrayBuffer();
    return undefined as T;
  }

  private async json<T>(answer: Response): Promise<T> {
    return this.parsed<T>(await answer.text());
  }

  private parsed<T>(text: string): T {
    try {
      return (this.settings.parse ?? parseJson)(text) as T;
    } catch (cause) {
      throw new GridError(0, { detail: 'The answer is not one of the service' }, { cause });
    }
  }

  /** The path that a link leads to; one to another place is not followed, for the token goes along. */
  private nextPage(link: string | null): string | undefined {
    const target = link?.match(/<([^<>]*)>\s*;\s*rel="?next"?/)?.[1];
    if (target === undefined) return undefined;
    if (target.startsWith('/')) return target;
    return target.startsWith(`${this.url}/`) ? target.slice(this.url.length) : undefined;
  }

  private async send(
    request: OperationRequest,
    token: string | undefined,
    { headers, signal }: CallOptions,
  ): Promise<Response> {
    const { body, type } = bodyOf(request);
    const send = this.settings.fetch ?? fetch;
    try {
      return await send(`${this.url}${request.path}${queryText(request.query ?? {})}`, {
        method: request.method,
        headers: {
          ...(type !== undefined && { 'Content-Type': type }),
          ...(token !== undefined && { Authorization: `Bearer ${token}` }),
          ...headers,
        },
        ...(body !== undefined && { body }),
        ...(signal && { signal }),
      });
    } catch (cause) {
      if (signal?.aborted === true) throw cause;
      throw new GridError(
        0,
        { code: 'network', detail: 'The service cannot be reached' },
        { cause },
      );
    }
  }
}

function bodyOf({ body, type }: OperationRequest): {
  body?: FormData | URLSearchParams | Blob | ArrayBuffer | string;
  type?: string;
} {
  if (body === undefined) return {};
  if (body instanceof FormData) {
    for (const [, value] of body) if (typeof value !== 'string') requireFormName(value.name);
    return { body }; // the platform adds the boundary
  }
  if (type === 'application/x-www-form-urlencoded') {
    return { body: formOf(body as Record<string, string | string[]>) };
  }
  if (typeof body === 'string' || body instanceof Blob || body instanceof ArrayBuffer) {
    return { body, ...(type !== undefined && { type }) };
  }
  return { body: stringifyJson(body), type: 'application/json' };
}

/** Browsers and fetch write `"` and ends of lines so, and nothing else of a name: what it was before nobody could tell. */
function requireFormName(name: string): void {
  const escaped = /%(?:22|0D|0A)/.exec(name)?.[0];
  if (escaped === undefined) return;
  const problem = `${name}: a form cannot carry ${escaped} in the name of a file, rename it`;
  const violations = [{ field: 'files', problem }];
  throw new GridError(400, { code: 'request.invalid', detail: problem, violations });
}

/** A form; a key whose value is a list is repeated. */
function formOf(fields: Record<string, string | string[]>): URLSearchParams {
  const pairs = Object.entries(fields).flatMap(([key, value]) =>
    [value].flat().map((item): [string, string] => [key, item]),
  );
  return new URLSearchParams(pairs);
}
