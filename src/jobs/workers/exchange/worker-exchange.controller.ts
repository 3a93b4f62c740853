import { pipeline } from 'node:stream/promises';
import { Body, Controller, Get, HttpCode, Param, Post, Put, Req, Res } from '@nestjs/common';
import { Admission, clientSignal, type HttpRequest, type HttpResponse } from '#src/http/index.js';
import { Readiness } from '#src/runtime/index.js';
import { OutputReadsRepository } from '../../matching/output-reads.repository.js';
import { executorOf } from '../worker.js';
import type { WorkerEntity } from '../worker.entity.js';
import { CurrentWorker, WorkerRoute } from '../worker-route.decorator.js';
import type {
  ArrivalsAnswer,
  ClaimAnswer,
  ClaimedToken,
  InputsAnswer,
  ReportAnswer,
  UploadsAnswer,
} from './protocol.js';
import { WorkerClaims } from './worker-claims.js';
import {
  ArrivalsBody,
  ClaimBody,
  InputsBody,
  OutputReadBody,
  ReportsBody,
  reportsOf,
  UploadsBody,
} from './worker-exchange.request.js';
import { WorkerOutputs } from './worker-outputs.js';
import { WorkerReports } from './worker-reports.js';
import { WorkerRuns } from './worker-runs.js';

/** What workers and the service tell each other of runs. Each exchange may be repeated: what comes twice counts once. */
@Controller('workers/:id')
export class WorkerExchangeController {
  constructor(
    private readonly admission: Admission,
    private readonly claims: WorkerClaims,
    private readonly reports: WorkerReports,
    private readonly outputs: WorkerOutputs,
    private readonly runs: WorkerRuns,
    private readonly reads: OutputReadsRepository,
    private readonly readiness: Readiness,
  ) {}

  /** A sign of life, a request for work and the channel of commands in one; answered when there is something to say. */
  @Post('claims')
  @HttpCode(200)
  @WorkerRoute()
  async claim(
    @CurrentWorker() worker: WorkerEntity,
    @Body() body: ClaimBody,
    @Req() request: HttpRequest,
  ): Promise<ClaimAnswer> {
    this.admission.leave(request); // a claim that waits keeps nobody from anything
    // An instance that stops answers what waits: its workers go on at another one.
    const signal = AbortSignal.any([clientSignal(request), this.readiness.stopping]);
    return this.claims.claim(worker, body, signal);
  }

  /** What became of runs: `{answers: [{run, go?, forget?}]}`; a report without an answer is to be repeated. */
  @Post('reports')
  @HttpCode(200)
  @WorkerRoute()
  async report(
    @CurrentWorker() worker: WorkerEntity,
    @Body() body: ReportsBody,
  ): Promise<{ answers: ReportAnswer[] }> {
    return { answers: await this.reports.write(worker, reportsOf(body)) };
  }

  /** Bytes of what a run writes, for whom an answer to a claim has asked; of a run that is not the worker's nothing is taken. */
  @Post('reads')
  @HttpCode(204)
  @WorkerRoute()
  async read(@CurrentWorker() worker: WorkerEntity, @Body() body: OutputReadBody): Promise<void> {
    const { id, part } = body;
    const read = part && { ...part, content: Buffer.from(part.content, 'base64') };
    await this.reads.answer(id, read, executorOf(worker));
  }

  /** The input sandbox of a run, a tar.gz. */
  @Get('runs/:run/input')
  @WorkerRoute()
  async input(
    @CurrentWorker() worker: WorkerEntity,
    @Param('run') run: string,
    @Res() response: HttpResponse,
  ): Promise<void> {
    const archive = await this.outputs.input(worker, run);
    response.setHeader('Content-Type', 'application/gzip');
    await pipeline(archive, response);
  }

  /** What opens files of the catalogue that are brought to a run, for 15 minutes; none of it is kept. */
  @Post('runs/:run/inputs')
  @HttpCode(200)
  @WorkerRoute()
  async inputs(
    @CurrentWorker() worker: WorkerEntity,
    @Param('run') run: string,
    @Body() { paths }: InputsBody,
  ): Promise<InputsAnswer> {
    return this.outputs.openFetched(worker, run, paths);
  }

  /** Where files go that a run stores, and what lets them in, for 15 minutes; asked again, what an earlier try has left is removed first. */
  @Post('runs/:run/uploads')
  @HttpCode(200)
  @WorkerRoute()
  async uploads(
    @CurrentWorker() worker: WorkerEntity,
    @Param('run') run: string,
    @Body() { files }: UploadsBody,
  ): Promise<UploadsAnswer> {
    const job = await this.outputs.storingRun(worker, run);
    return { files: await this.runs.serviceOf(worker).openOutputs(job, files) };
  }

  /** Looks at files that a run has written to storage elements. */
  @Post('runs/:run/arrivals')
  @HttpCode(200)
  @WorkerRoute()
  async arrivals(
    @CurrentWorker() worker: WorkerEntity,
    @Param('run') run: string,
    @Body() { names }: ArrivalsBody,
  ): Promise<ArrivalsAnswer> {
    const job = await this.outputs.storingRun(worker, run);
    return { files: await this.runs.serviceOf(worker).arrivedOutputs(job, names) };
  }

  /** Keeps the output of a run, a tar.gz, until its end is reported. */
  @Put('runs/:run/output')
  @HttpCode(204)
  @WorkerRoute()
  async output(
    @CurrentWorker() worker: WorkerEntity,
    @Param('run') run: string,
    @Req() request: HttpRequest,
  ): Promise<void> {
    await this.outputs.put(worker, run, request);
  }

  /** Another token for a run whose job asked for one. */
  @Post('runs/:run/token')
  @HttpCode(200)
  @WorkerRoute()
  async token(
    @CurrentWorker() worker: WorkerEntity,
    @Param('run') run: string,
  ): Promise<ClaimedToken> {
    const job = await this.outputs.wantedRun(worker, run);
    return this.runs.token(worker, job);
  }
}
