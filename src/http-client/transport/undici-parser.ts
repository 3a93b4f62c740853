import type { Socket } from 'node:net';

/** The part of undici's parser of answers that is changed here. It is none of its interface: package.json names one version. */
export interface Parser {
  /** llhttp, compiled: `pointer` is the state of one connection. */
  llhttp: {
    llhttp_set_lenient_headers(pointer: number, isOn: 0 | 1): void;
    llhttp_set_lenient_optional_cr_before_lf(pointer: number, isOn: 0 | 1): void;
    llhttp_set_lenient_spaces_after_chunk_size(pointer: number, isOn: 0 | 1): void;
  };
  ptr: number;
  socket: Socket;
  /** 0 until the headers are complete. */
  statusCode: number;
  contentLength: string;
  /** Names and values in turn. */
  headers: Buffer[];
  createError(code: number, rest: Buffer): Error;
  onHeaderField(bytes: Buffer): number;
  onHeaderValue(bytes: Buffer): number;
  onHeadersComplete(statusCode: number, isUpgrade: boolean, isKeptAlive: boolean): number;
  onMessageComplete(): number;
}
