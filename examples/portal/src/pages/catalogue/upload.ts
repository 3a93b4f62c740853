import { md5 as MD5 } from '@noble/hashes/legacy.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import {
  encodePath,
  stringifyJson,
  type FileAccessResponse,
  type GridClient,
} from 'gridgate/client';
import { textField } from '../../parts/field.js';
import { form, mark } from '../../parts/form.js';
import { Transfer } from './transfer.js';

/** Bytes of a file that are in memory at once. */
const PIECE_BYTES = 4 * 1024 * 1024;
/** Of what lets a file in: for the start, and for the bytes over a slow line. */
const LEAST_SECONDS = 900;
const MOST_SECONDS = 3_600;
const SLOW_BYTES = 1_000_000;

/** Writes a file of this machine to an S3 store and registers it; a browser can write to no others. */
export function uploadForm(
  client: GridClient,
  { base, signal }: { base: string; signal: AbortSignal },
  onDone: () => void,
): HTMLElement {
  const picker = textField('upload', 'File of yours', '', { required: true });
  picker.input.type = 'file';
  const element = textField('upload-element', 'Store', 'SE-S3', {
    hint: 'A storage element of the kind S3; empty: the first that takes the file',
  });
  /** What lets a file in, of a try that has failed: the path is held for it. */
  let held: { wanted: string; place: FileAccessResponse; isSent: boolean } | undefined;
  const placeOf = async (path: string, content: { size: number; md5: string }) => {
    const se = element.input.value.trim();
    const wanted = stringifyJson([path, content, se]);
    if (held?.wanted === wanted && Date.parse(held.place.expires) > Date.now()) return held;
    const seconds = Math.min(MOST_SECONDS, LEAST_SECONDS + Math.ceil(content.size / SLOW_BYTES));
    const [place] = await client.accessFiles({
      ...{ paths: [path], right: 'create', seconds, contents: [content], presigned: true },
      ...(se && { se }),
    });
    return (held = place && { wanted, place, isSent: false });
  };
  const upload = async (file: File, path: string, transfer: Transfer): Promise<void> => {
    const [md5, Size] = [await md5Of(file, transfer.signal), file.size];
    const holds = await placeOf(path, { size: Size, md5 });
    if (!holds) throw new Error(`No store has named a place for ${path}`);
    const { place } = holds;
    if (!holds.isSent) await send(file, place, transfer);
    holds.isSent = true;
    const content = { Size, Checksum: md5, ChecksumType: 'MD5' } as const;
    await client.registerFile(encodePath(path), { ...content, SE: place.se });
  };
  return form('Upload file', [picker, element], async () => {
    const file = picker.input.files?.[0];
    if (!file) throw mark(picker, 'is missing');
    const path = `${base}/${file.name}`;
    const transfer = new Transfer(path, signal);
    picker.element.append(transfer.element);
    try {
      await upload(file, path, transfer);
    } catch (error) {
      transfer.end(error);
      throw error;
    }
    transfer.end();
    onDone();
  });
}

/** Hexadecimal. */
async function md5Of(file: File, signal: AbortSignal): Promise<string> {
  const sum = MD5.create();
  for (let from = 0; from < file.size; from += PIECE_BYTES) {
    signal.throwIfAborted();
    sum.update(new Uint8Array(await file.slice(from, from + PIECE_BYTES).arrayBuffer()));
  }
  return bytesToHex(sum.digest());
}

function send(
  file: File,
  { se, url, presigned = url, headers = {} }: FileAccessResponse,
  transfer: Transfer,
): Promise<void> {
  const { signal } = transfer;
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const refuse = (why: string): void => reject(new Error(`${se} ${why}`));
    const request = new XMLHttpRequest();
    request.open('PUT', presigned);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded, total }): void => {
      transfer.show(loaded, total);
    };
    signal.addEventListener('abort', () => {
      request.abort();
      reject(signal.reason as Error);
    });
    request.onerror = (): void =>
      refuse('cannot be reached, or does not let this page upload: see its CORS rules');
    request.onload = (): void => {
      const { status } = request;
      // Another try has sent it: the path is held for these bytes alone, where nothing lay before.
      if ((status >= 200 && status < 300) || status === 412) resolve();
      else refuse(`has not taken the file (${request.status})`);
    };
    request.send(file);
  });
}
