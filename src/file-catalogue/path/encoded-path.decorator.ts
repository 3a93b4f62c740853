import { pathParameter } from '#src/http/index.js';
import { Problem } from '#src/kernel/index.js';
import { decodeDirectoryPath, decodeFilePath } from './catalogue-path.js';

/** Makes a handler parameter: a path of the catalogue. 400 for anything that is no URL-safe base 64 of one. */
function encodedPath(
  name: 'directory' | 'file',
  example: string,
  decode: typeof decodeFilePath,
): () => ParameterDecorator {
  return pathParameter(name, {
    description: `Path of the ${name} in URL-safe base 64 (RFC 4648 §5), padding optional`,
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]+={0,2}$', example },
    pipe: {
      transform: (encoded: string): string => {
        const decoded = decode(encoded);
        if ('fault' in decoded) throw Problem.invalidField(name, decoded.fault);
        return decoded.path;
      },
    },
  });
}

/** Handler parameter: the path of a directory. */
export const DirectoryPath = encodedPath('directory', 'L3ZvL2E', decodeDirectoryPath);

/** Handler parameter: the path of a file. */
export const FilePath = encodedPath('file', 'L3ZvL2EvcnVuMS9mMQ', decodeFilePath);

/** For the audit trail: the path of an address, as far as it can be read. */
export function auditedPath(encoded: string | string[] | undefined): string {
  return Buffer.from(String(encoded), 'base64url').toString('utf8');
}
