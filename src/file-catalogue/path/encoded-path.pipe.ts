import { Injectable, type PipeTransform } from '@nestjs/common';
import { Problem } from '#src/kernel/index.js';
import { decodeDirectoryPath, decodeFilePath } from './catalogue-path.js';

/** `<directory>` of a route → path. 400 for anything that is no URL-safe base 64 of a catalogue path. */
@Injectable()
export class DirectoryPathPipe implements PipeTransform<string, string> {
  transform(encoded: string): string {
    const decoded = decodeDirectoryPath(encoded);
    if ('fault' in decoded) throw Problem.invalidField('directory', decoded.fault);
    return decoded.path;
  }
}

/** `<file>` of a route → path. 400 likewise. */
@Injectable()
export class FilePathPipe implements PipeTransform<string, string> {
  transform(encoded: string): string {
    const decoded = decodeFilePath(encoded);
    if ('fault' in decoded) throw Problem.invalidField('file', decoded.fault);
    return decoded.path;
  }
}
