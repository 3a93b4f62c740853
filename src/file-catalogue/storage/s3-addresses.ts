import { readFile } from 'node:fs/promises';
import type * as S3 from '@aws-sdk/client-s3';
import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { CONFIG, type Config } from '#src/config/index.js';
import { type Clock, CLOCK, Problem, Slices } from '#src/kernel/index.js';
import { RegistryService, type AddressedElement } from '#src/registry/index.js';
import { awsSdk, LOGGER, type Logger } from '#src/runtime/index.js';

/** As AWS writes such files. */
const ID = /^[ \t]*aws_access_key_id[ \t]*=[ \t]*(\S+)/m;
const SECRET = /^[ \t]*aws_secret_access_key[ \t]*=[ \t]*(\S+)/m;

/** Makes what is signed: a command of the SDK for the object at an address. */
export type MakeCommand = (
  s3: typeof S3,
  object: { Bucket: string; Key: string },
  url: string,
) => S3.GetObjectCommand | S3.HeadObjectCommand | S3.PutObjectCommand | S3.DeleteObjectCommand;

/** Addresses of files at S3 elements that are signed with the keys that the service has for them (AWS Signature Version 4). */
@Injectable()
export class S3Addresses implements OnApplicationBootstrap {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 's3Region'>,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly registry: RegistryService,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** No user's request pays for the loading of the SDK, 0.1 s of the event loop. */
  async onApplicationBootstrap(): Promise<void> {
    const elements = (await this.registry.current()).storageElements();
    if (!elements.some(({ kind }) => kind === 's3')) return;
    await awsSdk().catch((err: unknown) =>
      this.logger.warn({ err }, 'no file in S3 can be opened'),
    );
  }

  /** For each of these addresses one by which it can be used so until then. Throws Problem 503 while the keys cannot be read. */
  async sign(
    element: AddressedElement,
    { urls, end, command }: { urls: readonly string[]; end: Date; command: MakeCommand },
  ): Promise<Map<string, { presigned: string; expires: Date }>> {
    const credentials = await keysOf(element);
    const { s3, getSignedUrl } = await awsSdk();
    // Whole seconds, as they stand in the address.
    const signingDate = new Date(Math.floor(this.clock.now() / 1000) * 1000);
    const expiresIn = Math.max(1, Math.floor((end.getTime() - signingDate.getTime()) / 1000));
    const expires = new Date(signingDate.getTime() + expiresIn * 1000);
    const client = new s3.S3Client({
      ...{ endpoint: new URL(element.url).origin, region: this.config.s3Region, credentials },
      ...{ forcePathStyle: true, disableS3ExpressSessionAuth: true },
      ...{
        requestChecksumCalculation: 'WHEN_REQUIRED',
        responseChecksumValidation: 'WHEN_REQUIRED',
      },
    });
    const signed = new Map<string, { presigned: string; expires: Date }>();
    const slices = new Slices();
    try {
      for (const url of urls) {
        const [Bucket = '', ...names] = new URL(url).pathname.slice(1).split('/');
        const Key = names.map(decodeURIComponent).join('/');
        const made = command(s3, { Bucket, Key }, url);
        const presigned = await getSignedUrl(client, made, { expiresIn, signingDate });
        signed.set(url, { presigned, expires });
        if (slices.isOver) await slices.rest();
      }
      return signed;
    } finally {
      client.destroy();
    }
  }
}

/** Read anew each time: keys are changed without a restart. */
async function keysOf({ name, credentialsFile = '' }: AddressedElement) {
  const text = await readFile(credentialsFile, 'utf8').catch((cause: unknown) => {
    throw Problem.unavailable(`The keys of ${name} cannot be read`, { cause });
  });
  const [accessKeyId, secretAccessKey] = [ID.exec(text)?.[1], SECRET.exec(text)?.[1]];
  if (accessKeyId !== undefined && secretAccessKey !== undefined) {
    return { accessKeyId, secretAccessKey };
  }
  throw Problem.unavailable(`The file with the keys of ${name} has none`);
}
