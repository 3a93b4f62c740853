import type { Writable } from 'node:stream';
import { Problem } from '#src/kernel/index.js';
import { plainName, sendPiece, type ByteRange, type FileDownload } from '#src/http/index.js';
import type { OutputReads } from '../matching/output-reads.js';
import type { Job } from '../state/job.entity.js';

const CHUNK_BYTES = 256 * 1024;

/** A file of a running job as a download: as long as it is at this moment. Undefined when there is none. */
export async function runningFile(
  reads: OutputReads,
  { jid, attempt }: Job,
  name: string,
): Promise<FileDownload | undefined> {
  const now = await reads.read(jid, { name, start: 0, mostBytes: 0 });
  if (!now) return undefined;
  const send = async ({ start, end }: ByteRange, target: Writable): Promise<void> => {
    for (let at = start; at <= end;) {
      const part = await reads.read(jid, {
        name,
        start: at,
        mostBytes: Math.min(CHUNK_BYTES, end + 1 - at),
      });
      if (!part || part.content.length === 0 || part.file !== now.file) throw changed();
      at += part.content.length;
      await sendPiece(target, part.content);
    }
    target.end();
  };
  return {
    sizeBytes: now.sizeBytes,
    tag: `W/"${attempt}.${now.file}.${now.sizeBytes}.${now.modifiedMs}"`,
    isGrowing: true,
    contentType: 'application/octet-stream',
    fileName: plainName(name),
    send,
  };
}

/** The answer is cut: its length was promised, and what is there now is something else. */
function changed(): Problem {
  return Problem.unavailable('The job has replaced the file, or has ended, while it was sent');
}
