import { ReadStream } from 'node:fs';
import { basename } from 'node:path';
import { randomToken } from '#src/kernel/index.js';
import { isForm, isStream, type EncodedBody } from './body-kinds.js';
import { fieldPairs } from './fields.js';
import { checkHeader } from './header-check.js';
import { StreamedBody } from './streamed-body.js';
import type { BodyChunk, Data, FileContent, FilePart, Files } from './types.js';

interface Part {
  head: string;
  content: FileContent;
}

/**
 * A multipart/form-data body (RFC 7578): the fields of `data` first, then the files in their order. Parts in memory make
 * one buffer; as soon as one part is a stream, the whole body is streamed and no file is held in memory.
 */
export function encodeMultipart(files: Files, data: Data | null | undefined): EncodedBody {
  const boundary = `gridgate-${randomToken(18)}`;
  const parts = [...fieldParts(data), ...fileParts(files)];
  const contentType = `multipart/form-data; boundary=${boundary}`;
  if (parts.some((part) => isStream(part.content) || part.content instanceof Blob)) {
    const body = new StreamedBody(
      () => streamParts(parts, boundary),
      parts.map((part) => part.content),
    );
    return { body, contentType };
  }
  const chunks = parts.flatMap(({ head, content }) => [
    Buffer.from(`--${boundary}\r\n${head}\r\n`),
    Buffer.from(content as string),
    Buffer.from('\r\n'),
  ]);
  return { body: Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]), contentType };
}

async function* streamParts(parts: readonly Part[], boundary: string): AsyncGenerator<BodyChunk> {
  for (const { head, content } of parts) {
    yield `--${boundary}\r\n${head}\r\n`;
    if (content instanceof Blob) yield* content.stream() as AsyncIterable<Uint8Array>;
    else if (isStream(content)) yield* content;
    else yield content;
    yield '\r\n';
  }
  yield `--${boundary}--\r\n`;
}

function* fieldParts(data: Data | null | undefined): Generator<Part> {
  if (data === null || data === undefined || data === '') return;
  if (!isForm(data)) throw new TypeError('data beside files must be fields');
  for (const [name, value] of fieldPairs(data)) {
    yield { head: `Content-Disposition: form-data; name="${quote(name)}"\r\n`, content: value };
  }
}

function* fileParts(files: Files): Generator<Part> {
  const entries = Array.isArray(files)
    ? (files as readonly (readonly [string, FilePart])[])
    : Object.entries(files as Readonly<Record<string, FilePart>>);
  for (const [field, part] of entries) yield filePart(field, part);
}

function filePart(field: string, part: FilePart): Part {
  const isTuple = Array.isArray(part);
  const [filename, content, contentType, headers] = (
    isTuple ? part : [guessName(part as FileContent) ?? field, part]
  ) as [string | null, FileContent, (string | null)?, Record<string, string>?];
  const lines = [
    `Content-Disposition: form-data; name="${quote(field)}"` +
      (filename === null ? '' : `; filename="${quote(filename)}"`),
  ];
  const type = contentType ?? (content instanceof Blob && content.type ? content.type : null);
  if (type !== null) lines.push(`Content-Type: ${type}`);
  for (const [name, value] of Object.entries(headers ?? {})) lines.push(`${name}: ${value}`);
  for (const line of lines.slice(1)) {
    const colon = line.indexOf(':');
    checkHeader(line.slice(0, colon), line.slice(colon + 2));
  }
  return { head: lines.map((line) => `${line}\r\n`).join(''), content };
}

function guessName(content: FileContent): string | undefined {
  if (content instanceof Blob && 'name' in content) return String(content.name);
  if (content instanceof ReadStream && typeof content.path === 'string') {
    return basename(content.path);
  }
  return undefined;
}

/** The three characters that would break the quoted string, escaped as browsers do (HTML, multipart/form-data). */
function quote(text: string): string {
  return text.replace(/\r/g, '%0D').replace(/\n/g, '%0A').replace(/"/g, '%22');
}
