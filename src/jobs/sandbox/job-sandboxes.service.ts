import type { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { Problem } from '#src/kernel/index.js';
import type { Principal } from '#src/auth/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import {
  answerDownload,
  plainName,
  type ByteRange,
  type FileDownload,
  type HttpRequest,
  type HttpResponse,
} from '#src/http/index.js';
import { JobAccess } from '../access/job-access.service.js';
import type { Job } from '../state/job.entity.js';
import type { Jid } from '../state/job.js';
import { isFinal } from '../state/job-state.js';
import { JobsRepository } from '../state/jobs.repository.js';
import type { SandboxFilesResponse } from './sandbox.response.js';
import { copyFileOfArchive } from './sandbox-archive.js';
import { copyTo } from './sandbox-download.js';
import type { SandboxEntity } from './sandbox.entity.js';
import { SandboxService } from './sandbox.service.js';
import {
  SANDBOX_STORE,
  SandboxDamagedError,
  SandboxMissingError,
  type SandboxStore,
} from './sandbox.store.js';

/** Which sandbox of a job. */
export type SandboxKind = 'inputsandbox' | 'outputsandbox';

/** Hands out the sandboxes of jobs to those who may read them. */
@Injectable()
export class JobSandboxesService {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly access: JobAccess,
    private readonly jobs: JobsRepository,
    private readonly sandboxes: SandboxService,
    @Inject(SANDBOX_STORE) private readonly store: SandboxStore,
  ) {}

  /**
   * Answers the whole archive, or redirects to the store. Throws Problem 403, 404 (also when there is none), 500 when it is
   * damaged or missing; what gets shorter while it is sent is cut.
   */
  async download(
    caller: { principal: Principal; request: HttpRequest; response: HttpResponse },
    jid: string,
    kind: SandboxKind,
  ): Promise<void> {
    const { principal, request, response } = caller;
    const { job, sandbox } = await this.find(principal, jid, kind);
    const { hash } = sandbox;
    const sizeBytes = Number(sandbox.sizeBytes);
    const fileName = `${job.jid}-${kind}.tar.gz`;
    const open = (range: ByteRange): Promise<Readable> =>
      this.store.open(hash, { sizeBytes, range });
    const noteRetrieval = async (): Promise<void> => {
      if (kind === 'inputsandbox' || principal.user !== job.owner || request.method !== 'GET')
        return;
      await this.jobs.markRetrieved(job.jid);
    };
    await telling(job, kind, async () => {
      if (this.config.s3Presign && this.store.presign) {
        const location = await this.store.presign({ hash, sizeBytes }, fileName);
        await noteRetrieval();
        response.setHeader('Location', location);
        response.statusCode = 307;
        response.end();
        return;
      }
      if (request.method === 'HEAD') (await open({ start: 0, end: 0 })).destroy();
      await answerDownload(request, response, {
        sizeBytes,
        tag: `"${hash}"`,
        contentType: 'application/gzip',
        fileName,
        send: async (range, target) => {
          const source = await open(range);
          await noteRetrieval().catch((error: unknown) => {
            source.destroy();
            throw error;
          });
          await copyTo(source, target, range);
        },
      });
    });
  }

  /** Names and sizes of the files in the archive. */
  async files(principal: Principal, jid: string, kind: SandboxKind): Promise<SandboxFilesResponse> {
    const { sandbox } = await this.find(principal, jid, kind);
    const files = sandbox.files.map(({ name, size, link, directory, executable }) => ({
      ...{ name, size },
      ...(link === undefined ? {} : { link }),
      ...(directory && { directory }),
      ...(executable && { executable }),
    }));
    return { files };
  }

  /** Answers one file of the archive; byte ranges are honoured. Throws Problem 404 for a name that is not in it. */
  async downloadFile(
    caller: { principal: Principal; request: HttpRequest; response: HttpResponse },
    jid: string,
    kind: SandboxKind,
    name: string,
  ): Promise<void> {
    const { principal, request, response } = caller;
    const job = await this.access.readSandbox(principal, jid, kind);
    await answerDownload(request, response, await this.fileOf(job, kind, name));
  }

  /**
   * One file of a sandbox as it is handed out, for somebody who may read the job. Throws Problem 404 for a name that is
   * not in it, and when there is no sandbox.
   */
  async fileOf(job: Job, kind: SandboxKind, name: string): Promise<FileDownload> {
    const sandbox = await this.sandboxOf(job, kind);
    const { files } = sandbox;
    const link = files.find((file) => file.name === name)?.link;
    const index = files.findIndex(
      (file) => file.name === (link ?? name) && file.link === undefined,
    );
    const file = files[index];
    if (!file && link !== undefined) {
      throw noSuchFile(
        `The link leads to ${link || 'the directory of the job'}, which is no file of the sandbox`,
      );
    }
    if (!file) {
      const why = ': it was not made, or OutputSandbox does not name it';
      throw noSuchFile(
        `The sandbox has no file of that name${kind === 'outputsandbox' ? why : ''}`,
      );
    }
    if (file.directory) throw noSuchFile('It is an empty directory, which has no bytes');
    return {
      sizeBytes: file.size,
      tag: `"${sandbox.hash}-${index}"`,
      contentType: 'application/octet-stream',
      fileName: plainName(name),
      ...(file.modified !== undefined && { modifiedAt: new Date(file.modified * 1_000) }),
      send: (range, target) =>
        telling(job, kind, async () => {
          const source = await this.store.open(sandbox.hash, {
            sizeBytes: Number(sandbox.sizeBytes),
          });
          await copyFileOfArchive(source, file.name, target, range);
        }),
    };
  }

  private async find(
    principal: Principal,
    jid: string,
    kind: SandboxKind,
  ): Promise<{ job: Job; sandbox: SandboxEntity }> {
    const job = await this.access.readSandbox(principal, jid, kind);
    return { job, sandbox: await this.sandboxOf(job, kind) };
  }

  private async sandboxOf(job: Job, kind: SandboxKind): Promise<SandboxEntity> {
    const hash = kind === 'inputsandbox' ? job.inputSandbox : job.outputSandbox;
    if (hash === null) throw noSandbox(job, kind);
    const sandbox = await this.sandboxes.describe(hash);
    if (!sandbox) throw noSandbox(job, kind);
    return sandbox;
  }
}

/** Runs work on a stored sandbox; what is wrong with the bytes becomes a Problem that says what to do. */
async function telling<T>(job: Job, kind: SandboxKind, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const isMissing = cause instanceof SandboxMissingError;
    if (!isMissing && !(cause instanceof SandboxDamagedError)) throw cause;
    const fault = isMissing ? 'not in the store any more' : `damaged: ${cause.problem}`;
    const again = kind === 'inputsandbox' ? 'submitted' : 'run';
    const advice = `tell the administrators, who may have a copy of the sandbox store; without one the job must be ${again} again`;
    const detail = `The stored ${kind} of job ${job.jid} is ${fault}; ${advice}`;
    throw new Problem(isMissing ? 'sandbox.missing' : 'sandbox.damaged', detail, { cause });
  }
}

/** 404 for a file that a job does not have. */
export function noSuchFile(detail: string): Problem {
  return new Problem('job.no-such-file', detail);
}

function noSandbox(job: { jid: Jid; status: Job['status'] }, kind: SandboxKind): Problem {
  const reason =
    kind === 'inputsandbox'
      ? 'it was submitted without files'
      : isFinal(job.status)
        ? `it ended ${job.status} without output`
        : `it is ${job.status} and has no output yet`;
  return new Problem('job.no-sandbox', `Job ${job.jid} has no ${kind}: ${reason}`);
}
