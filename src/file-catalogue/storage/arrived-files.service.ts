import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '#src/auth/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { Problem } from '#src/kernel/index.js';
import { Database } from '#src/database/index.js';
import { hasAddress, RegistryService, type AddressedElement } from '#src/registry/index.js';
import { Adler32 } from '#src/storage-client/index.js';
import { CataloguePolicy } from '../access/catalogue.policy.js';
import { CatalogueWriteService } from '../changes/catalogue-write.service.js';
import type { RegisterFileRequest } from '../changes/writes.request.js';
import { CatalogueNames } from '../names/catalogue-names.service.js';
import { bareChecksum, bareType } from '../writing/member-rules.js';
import { findOwn, storedAt } from './bytes.repository.js';
import { ElementFault } from './element-fault.js';
import { StorageElements } from './storage-elements.js';

/** So many are read to be compared, for so much of the time that a request has. */
const MOST_READ_BYTES = 1024 ** 3;
const READ_SHARE = 0.8;
const NO_ADLER32 = 'is not an Adler32, by which bytes are compared that were uploaded';
const NO_MD5 = 'of more than 1 GiB there must be the MD5 that was said before (ChecksumType MD5)';
const NO_CHECKSUM = 'cannot be compared: the storage tells none, and more than 1 GiB is not read';

/** Registers files: those whose bytes were let in at a storage element when they have been looked at there. */
@Injectable()
export class ArrivedFiles {
  constructor(
    private readonly database: Database,
    private readonly registry: RegistryService,
    private readonly policy: CataloguePolicy,
    private readonly names: CatalogueNames,
    private readonly elements: StorageElements,
    private readonly writes: CatalogueWriteService,
    @Inject(CONFIG) private readonly config: Pick<Config, 'requestTimeout'>,
  ) {}

  /**
   * False when the same file was registered. 400, 403, 409; of a file whose path the caller holds for bytes 409 `storage.differs` when
   * these are not there, and 503 when the element does not answer.
   */
  async register(principal: Principal, path: string, body: RegisterFileRequest): Promise<boolean> {
    try {
      if (body.SE === undefined) return await this.writes.registerFile(principal, path, body);
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'catalogue.exists') throw error;
      if (await this.registerArrived(principal, path, body)) return true;
      throw error;
    }
    if (await this.registerArrived(principal, path, body)) return true;
    // Asked again, for an answer that was lost.
    if (await this.isStored(path, body.SE)) {
      return this.writes.registerFile(principal, path, body, { mustExist: true });
    }
    const text = `No upload of ${path} to ${body.SE} is under way: its time is over, or it is not yours`;
    throw new Problem('storage.differs', text);
  }

  private async isStored(path: string, se: string | undefined): Promise<boolean> {
    const ses = await storedAt(this.database, path);
    await this.names.load(ses);
    return ses.some((id) => this.names.nameOf(id) === se);
  }

  /** False when the path is not held for bytes of the caller. */
  private async registerArrived(
    principal: Principal,
    path: string,
    body: RegisterFileRequest,
  ): Promise<boolean> {
    const { userId } = await this.policy.writerOf(principal);
    const own = await findOwn(this.database, path, userId);
    if (!own) return false;
    await this.names.load([own.se_id]);
    const se = this.names.nameOf(own.se_id);
    if (body.SE !== undefined && body.SE !== se) return false;
    await this.compare(path, { se, md5: own.md5 }, body);
    const arrived = { id: own.id, seId: own.se_id };
    return this.writes.registerFile(principal, path, body, { arrived });
  }

  /** By the checksum that the storage tells; where it tells none, the bytes are read, or the MD5 is what was signed for them. */
  private async compare(
    path: string,
    { se, md5 }: { se: string; md5: string | null },
    { Size: size, Checksum: checksum = '', ChecksumType: type = 'Adler32' }: RegisterFileRequest,
  ): Promise<void> {
    const isSigned = md5 !== null && bareType(type) === 'md5';
    if (checksum === '' || !(isSigned || bareType(type) === 'adler32')) {
      throw Problem.invalidField('Checksum', NO_ADLER32);
    }
    const element = (await this.registry.current()).storageElement(se);
    if (!element || !hasAddress(element)) {
      throw new Problem('catalogue.no-address', `${se} has no address any more`);
    }
    const stored = await this.elements.stat(element, path);
    const differs = (text: string) => new Problem('storage.differs', `${se} ${text} of ${path}`);
    if (!stored) throw differs('has nothing');
    if (BigInt(stored.size) !== BigInt(size))
      throw differs(`has ${stored.size} bytes, not ${size},`);
    if (stored.adler32 === undefined && !isSigned && stored.size > MOST_READ_BYTES) {
      throw Problem.invalidField('Checksum', md5 === null ? NO_CHECKSUM : NO_MD5);
    }
    const known = isSigned ? md5 : (stored.adler32 ?? (await this.read(element, path)));
    if (known === undefined) throw differs('has nothing');
    if (bareChecksum(known, type) !== bareChecksum(checksum, type)) {
      throw differs(
        `has bytes with the ${isSigned ? 'MD5' : 'Adler32'} ${known}, not ${checksum},`,
      );
    }
  }

  /** The Adler32 of the bytes; undefined when there are none. */
  private async read(element: AddressedElement, path: string): Promise<string | undefined> {
    const signal = AbortSignal.timeout(this.config.requestTimeout * READ_SHARE * 1_000);
    const opened = await this.elements.open(element, path, { signal });
    if (!opened) return undefined;
    const sum = new Adler32();
    try {
      for await (const piece of opened.bytes as AsyncIterable<Buffer>) sum.update(piece);
    } catch (error) {
      if (!signal.aborted) throw error;
      throw new ElementFault(element.name, 'away', 'is too slow for its bytes to be compared');
    }
    return sum.hex;
  }
}
