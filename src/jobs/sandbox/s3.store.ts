import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import type { GetObjectCommandInput, S3Client } from '@aws-sdk/client-s3';
import type { OnApplicationBootstrap } from '@nestjs/common';
import type { ByteRange } from '#src/http/index.js';
import { Problem } from '#src/kernel/index.js';
import type { Config } from '#src/config/index.js';
import { awsSdk, type Logger } from '#src/runtime/index.js';
import {
  SandboxDamagedError,
  SandboxMissingError,
  type KeptArchive,
  type NewArchive,
  type SandboxStore,
} from './sandbox.store.js';

const MEBIBYTE = 1024 * 1024;
/** Parts of a large upload: two of them are in memory at a time, and 10,000 of them are 80 GB. */
const PART_BYTES = 8 * MEBIBYTE;
const PARTS_AT_ONCE = 2;
const CONNECT_TIMEOUT_MS = 3_000;
const ATTEMPTS = 2;
const PRESIGNED_SECONDS = 300;
/** Longest wait for the bucket's answer before the server is ready. */
const FIRST_LOOK_MS = 1_000;
/** Names no archive. */
const NO_HASH = '0'.repeat(64);
const CONTENT_TYPE = 'application/gzip';

/** Where the archives are and how to get at them. Without keys the AWS default chain is asked. */
export interface S3Settings {
  bucket: string;
  /** Without slashes at its ends; may be empty. */
  prefix: string;
  endpoint?: string | undefined;
  region: string;
  accessKey?: string | undefined;
  secretKey?: string | undefined;
  /** Hand out presigned URLs for downloads. */
  presign: boolean;
  timeoutMs: number;
}

/** The settings of `GRID_SANDBOX_STORE=s3://bucket/prefix`; undefined when the store is a directory. */
export function s3SettingsOf(config: Config): S3Settings | undefined {
  const match = /^s3:\/\/([^/]+)(?:\/(.*))?$/.exec(config.sandboxStore);
  if (match === null) return undefined;
  return {
    bucket: match[1] ?? '',
    prefix: (match[2] ?? '').replace(/^\/+|(?<!\/)\/+$/g, ''),
    endpoint: config.s3Endpoint,
    region: config.s3Region,
    accessKey: config.s3AccessKey,
    secretKey: config.s3SecretKey,
    presign: config.s3Presign,
    timeoutMs: config.s3Timeout * 1000,
  };
}

interface Sdk extends Awaited<ReturnType<typeof awsSdk>> {
  client: S3Client;
}

/**
 * Archives as objects `prefix/ab/abcdef….tar.gz` in a bucket of any S3-compatible store. The SDK (0.2 s of the event loop) is
 * loaded and used once before the server is ready, by a command at the first use. A store that is away, slow or refuses
 * the key is a Problem `service.unavailable`.
 */
export class S3SandboxStore implements SandboxStore, OnApplicationBootstrap {
  /** Present only when downloads are to be redirected. */
  readonly presign?: (sandbox: KeptArchive, fileName: string) => Promise<string>;
  private loaded: Promise<Sdk> | undefined;

  constructor(
    private readonly settings: S3Settings,
    private readonly logger: Logger,
  ) {
    if (!settings.presign) return;
    this.presign = async (sandbox, fileName) => {
      await this.refuseOtherSize(sandbox);
      return this.sign(sandbox.hash, fileName);
    };
  }

  /** No user's request pays for the loading; a store that does not answer is told, and does not keep the server from its start. */
  async onApplicationBootstrap(): Promise<void> {
    await this.sdk();
    try {
      if (this.settings.presign) await this.sign(NO_HASH, '');
      await this.sizeOf(NO_HASH, AbortSignal.timeout(FIRST_LOOK_MS));
    } catch (err) {
      this.logger.warn(
        { err, part: 'sandboxes' },
        'the sandbox store does not answer as it should',
      );
    }
  }

  async put(archive: NewArchive): Promise<void> {
    const { s3, client } = await this.sdk();
    const target = this.targetOf(archive.hash);
    await this.attempt('put', archive.hash, async () => {
      if ((await this.sizeOf(archive.hash)) === archive.sizeBytes) return;
      if ('path' in archive && archive.sizeBytes > PART_BYTES) {
        await this.upload(archive.hash, archive.path);
        return;
      }
      const body = 'content' in archive ? archive.content : createReadStream(archive.path);
      const input = { ...target, Body: body, ContentLength: archive.sizeBytes };
      await client.send(new s3.PutObjectCommand({ ...input, ContentType: CONTENT_TYPE }));
    });
  }

  async open(hash: string, wish?: { sizeBytes: number; range?: ByteRange }): Promise<Readable> {
    const { s3, client } = await this.sdk();
    const input: GetObjectCommandInput = this.targetOf(hash);
    const { range, sizeBytes } = wish ?? {};
    if (range !== undefined) input.Range = `bytes=${range.start}-${range.end}`;
    const answer = await this.attempt('open', hash, async () => {
      try {
        return await client.send(new s3.GetObjectCommand(input));
      } catch (error) {
        // An object that ends before the range begins: this tells how long it is.
        if (statusOf(error) === 416 && wish) await this.refuseOtherSize({ hash, ...wish });
        throw error;
      }
    });
    const body = answer.Body as Readable;
    try {
      if (sizeBytes !== undefined) SandboxDamagedError.refuseSize(wholeSizeOf(answer), sizeBytes);
    } catch (error) {
      body.destroy();
      throw error;
    }
    return body;
  }

  async remove(hash: string): Promise<void> {
    const { s3, client } = await this.sdk();
    await this.attempt('remove', hash, () =>
      client.send(new s3.DeleteObjectCommand(this.targetOf(hash))),
    );
  }

  /** Closes the connections. */
  async close(): Promise<void> {
    const loaded = await this.loaded;
    loaded?.client.destroy();
  }

  /** Parts in parallel; a failure removes those that were sent. */
  private async upload(hash: string, path: string): Promise<void> {
    const { client, Upload } = await this.sdk();
    const upload = new Upload({
      client,
      params: {
        ...this.targetOf(hash),
        Body: createReadStream(path, { highWaterMark: MEBIBYTE }),
        ContentType: CONTENT_TYPE,
      },
      partSize: PART_BYTES,
      queueSize: PARTS_AT_ONCE,
    });
    await upload.done();
  }

  private async sizeOf(hash: string, abortSignal?: AbortSignal): Promise<number | undefined> {
    const { s3, client } = await this.sdk();
    try {
      const command = new s3.HeadObjectCommand(this.targetOf(hash));
      const answer = await client.send(command, abortSignal === undefined ? {} : { abortSignal });
      return answer.ContentLength;
    } catch (error) {
      if (statusOf(error) === 404) return undefined;
      throw error;
    }
  }

  private async refuseOtherSize({ hash, sizeBytes }: KeptArchive): Promise<void> {
    const found = await this.attempt('open', hash, () => this.sizeOf(hash));
    if (found === undefined) throw new SandboxMissingError(hash);
    SandboxDamagedError.refuseSize(found, sizeBytes);
  }

  private async sign(hash: string, fileName: string): Promise<string> {
    const { s3, client, getSignedUrl } = await this.sdk();
    const command = new s3.GetObjectCommand({
      ...this.targetOf(hash),
      ResponseContentType: CONTENT_TYPE,
      ResponseContentDisposition: `attachment; filename="${fileName.replace(/["\\\r\n]/g, '_')}"`,
    });
    return this.attempt('presign', hash, () =>
      getSignedUrl(client, command, { expiresIn: PRESIGNED_SECONDS }),
    );
  }

  private async attempt<T>(what: string, hash: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      if (cause instanceof SandboxDamagedError || cause instanceof SandboxMissingError) throw cause;
      if (what === 'open' && (cause as Error).name === 'NoSuchKey') {
        throw new SandboxMissingError(hash, { cause });
      }
      throw Problem.unavailable('the sandbox store does not answer as it should', { cause });
    }
  }

  private targetOf(hash: string): { Bucket: string; Key: string } {
    if (!/^[0-9a-f]{64}$/.test(hash)) throw new Error('not a sandbox hash');
    const { bucket, prefix } = this.settings;
    const name = `${hash.slice(0, 2)}/${hash}.tar.gz`;
    return { Bucket: bucket, Key: prefix === '' ? name : `${prefix}/${name}` };
  }

  private sdk(): Promise<Sdk> {
    this.loaded ??= this.load().catch((error: unknown) => {
      this.loaded = undefined; // it had too many open files, perhaps
      throw error;
    });
    return this.loaded;
  }

  private async load(): Promise<Sdk> {
    const sdk = await awsSdk();
    const { endpoint, region, accessKey, secretKey, timeoutMs } = this.settings;
    const client = new sdk.s3.S3Client({
      region,
      maxAttempts: ATTEMPTS,
      // Checksums in trailers are refused by older stores; TLS and the content hash protect the bytes.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: {
        connectionTimeout: CONNECT_TIMEOUT_MS,
        requestTimeout: timeoutMs,
        throwOnRequestTimeout: true,
        socketTimeout: timeoutMs,
      },
      ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
      ...(accessKey === undefined || secretKey === undefined
        ? {}
        : { credentials: { accessKeyId: accessKey, secretAccessKey: secretKey } }),
    });
    return { ...sdk, client };
  }
}

/** Bytes of the object, of which an answer may have a part: `bytes 0-9/1234`. */
function wholeSizeOf(answer: {
  ContentRange?: string | undefined;
  ContentLength?: number | undefined;
}): number {
  const whole = answer.ContentRange?.match(/\/(\d+)$/)?.[1];
  return whole === undefined ? (answer.ContentLength ?? Number.NaN) : Number(whole);
}

function statusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
}
