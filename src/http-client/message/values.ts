import type { CaseInsensitiveDict } from './structures.js';

/** A single value of a query or form field; null and undefined leave the field out. */
export type FieldValue = string | number | bigint | boolean | null | undefined;

/** Names and values of a query or form; a list repeats the name. */
export type FieldMap = Readonly<Record<string, FieldValue | readonly FieldValue[]>>;

/** The same as pairs, which keeps order and repetition. */
export type FieldPairs = readonly (readonly [string, FieldValue | readonly FieldValue[]])[];

/** Query-string data: a map merges with the session's, anything else replaces it. */
export type Params = FieldMap | FieldPairs | URLSearchParams | string;

/** What a streamed body is made of. */
export type BodyChunk = Uint8Array | string;

/** A body that is produced piece by piece; it goes out chunked. */
export type BodyStream = AsyncIterable<BodyChunk> | Iterable<BodyChunk>;

/** Request bodies: maps, pairs and URLSearchParams become a form, text and bytes go as they are, iterables are streamed. */
export type Data =
  | FieldMap
  | FieldPairs
  | URLSearchParams
  | FormData
  | string
  | ArrayBufferView
  | ArrayBuffer
  | Blob
  | BodyStream;

/** A prepared body as it goes on the wire. */
export type PreparedBody = string | Uint8Array | Blob | BodyStream | null;

/** Content of one file of a multipart body. */
export type FileContent = string | Uint8Array | Blob | BodyStream;

/** Content, or [filename, content, content type, further headers of the part]; a null filename makes a plain field. */
export type FilePart =
  | FileContent
  | readonly [
      filename: string | null,
      content: FileContent,
      contentType?: string | null,
      headers?: Readonly<Record<string, string>>,
    ];

/** Files of a multipart body by field name; pairs allow a field to repeat. */
export type Files = Readonly<Record<string, FilePart>> | readonly (readonly [string, FilePart])[];

/** Headers of one request; null removes the session's header of that name. */
export type RequestHeaders =
  | CaseInsensitiveDict
  | Readonly<Record<string, string | null | undefined>>
  | Iterable<readonly [string, string | null | undefined]>;

/** User name and password for HTTP Basic (RFC 7617). */
export type AuthTuple = readonly [username: string, password: string];

/** Proxy URLs by `scheme://host`, `scheme`, `all://host` or `all`; null removes the entry of a lower layer. */
export type Proxies = Readonly<Record<string, string | null | undefined>>;

/** Proxy URLs after merging. */
export type ProxyMap = Record<string, string>;

/** TLS verification: true, false (tests only), or the path of a CA file or directory. */
export type Verify = boolean | string;

/** Client certificate: path of a PEM file with certificate and key, or the paths of both. */
export type ClientCert = string | readonly [cert: string, key: string];

/** Seconds for connecting and for silence while reading, or [connect, read]; null waits for ever. */
export type TimeoutSetting = number | readonly [connect: number | null, read: number | null];

/** What a response hook is told beside the response. */
export interface HookSettings {
  timeout: TimeoutSetting | null;
  verify: Verify;
  proxies: Proxies;
  stream: boolean;
  cert: ClientCert | null;
}
