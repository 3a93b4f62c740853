import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';

const PIECE_BYTES = 64 * 1024;
const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** True when both paths are plain files with the same bytes; a link is none. Throws the errors of the file system. */
export async function isSameContent(one: string, other: string): Promise<boolean> {
  return reading(one, (first) => reading(other, (second) => isSame(first, second)));
}

async function reading(
  path: string,
  work: (handle: FileHandle) => Promise<boolean>,
): Promise<boolean> {
  const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    return (await handle.stat()).isFile() && (await work(handle));
  } finally {
    await handle.close();
  }
}

async function isSame(one: FileHandle, other: FileHandle): Promise<boolean> {
  const { size } = await one.stat();
  if ((await other.stat()).size !== size) return false;
  const [piece, otherPiece] = [Buffer.alloc(PIECE_BYTES), Buffer.alloc(PIECE_BYTES)];
  for (let at = 0; at < size;) {
    const { bytesRead } = await one.read(piece, 0, PIECE_BYTES, at);
    const { bytesRead: otherRead } = await other.read(otherPiece, 0, PIECE_BYTES, at);
    const isEqual = piece.subarray(0, bytesRead).equals(otherPiece.subarray(0, otherRead));
    if (!isEqual || bytesRead === 0) return false;
    at += bytesRead;
  }
  return true;
}
