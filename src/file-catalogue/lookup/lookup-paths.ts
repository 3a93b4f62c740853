import { isJsonObject, Problem } from '#src/kernel/index.js';
import {
  contentTypeOf,
  parseJsonText,
  readBody,
  readChunks,
  type HttpRequest,
} from '#src/http/index.js';
import { textLines } from '../exchange/text-lines.js';
import { LookupRequest, MAX_LOOKUP_PATHS } from './lookup.request.js';

/** NDJSON, in requests and answers. */
export const LINES_TYPE = 'application/x-ndjson';

/**
 * The paths of a request: `{"paths": […]}`, or lines, each a JSON text or an object whose `path` is one. Throws Problem 400
 * naming the line, 413, 415.
 */
export async function pathsOf(request: HttpRequest, mostBytes: number): Promise<string[]> {
  if (contentTypeOf(request) !== LINES_TYPE) {
    return (await readBody(LookupRequest, request, mostBytes)).paths;
  }
  const paths: string[] = [];
  for await (const line of textLines(readChunks(request, mostBytes))) {
    if ('fault' in line) throw malformed(line.number, line.fault);
    if (paths.length === MAX_LOOKUP_PATHS) {
      throw Problem.invalidField('paths', `are more than ${MAX_LOOKUP_PATHS} lines`);
    }
    paths.push(pathIn(line));
  }
  return paths;
}

function pathIn({ number, text }: { number: number; text: string }): string {
  const value = parseJsonText(text, `Line ${number}`);
  const path = isJsonObject(value) ? value['path'] : value;
  if (typeof path === 'string') return path;
  throw malformed(number, 'is neither a path as JSON text nor an object with such a path');
}

function malformed(line: number, fault: string): Problem {
  return new Problem('request.malformed-body', `Line ${line} ${fault}`);
}
