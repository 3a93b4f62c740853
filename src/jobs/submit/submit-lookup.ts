import { Inject, Injectable } from '@nestjs/common';
import { sleep } from '#src/kernel/index.js';
import type { Principal } from '#src/auth/index.js';
import type { Site } from '#src/registry/index.js';
import { allowedSites } from '../manifest/manifest.js';
import { pointerTo } from '../manifest/manifest-warning.js';
import { lackOf } from '../manifest/resources.js';
import { INPUT_DATA_CATALOGUE, type InputDataCatalogue } from '../run/executor.js';
import { scriptFault, scriptStart, shownFirstLine } from '../run/script-head.js';
import { OwnWorker } from '../workers/own/own-worker.js';
import type { ReceivedFile } from './multipart-reading.js';
import type { NamedProgram, NamedResources, PlacedWarning } from './named-resources.js';

/** Programs may lie on a file system that does not answer; a submit does not wait for it. */
const PROGRAMS_MS = 500;
const MAX_SHOWN = 200;
const NO_ADDRESS =
  'has no replica with an address: register one with its URL as PFN, or have the program fetch it';
const NOT_FETCHED =
  'is not brought to the job: no replica of it lies at the address of a storage element';

/**
 * Looks for what the manifests of a request name. What is not there is a warning and no fault: it may
 * come while the job waits.
 */
@Injectable()
export class SubmitLookup {
  constructor(
    private readonly ownWorker: OwnWorker,
    @Inject(INPUT_DATA_CATALOGUE) private readonly catalogue: InputDataCatalogue,
  ) {}

  /**
   * Warnings about programs and interpreters that no site has, about scripts that were saved so that Linux cannot start them, and
   * about files that the catalogue does not show to the submitter, or of which it knows no address.
   */
  async warningsOf(
    submitter: Pick<Principal, 'user' | 'group'>,
    { named, files }: { named: NamedResources; files: readonly ReceivedFile[] },
    siteList: readonly Site[],
  ): Promise<PlacedWarning[]> {
    const heads = new Map(files.map(({ name, head }) => [name, head]));
    const scripts = scriptWarnings(named, heads);
    const programs = await this.missingPrograms(named, heads, siteList);
    return [...scripts, ...programs, ...(await this.missingFiles(submitter, named))];
  }

  private async missingPrograms(
    named: NamedResources,
    heads: Heads,
    siteList: readonly Site[],
  ): Promise<PlacedWarning[]> {
    const warnings: PlacedWarning[] = [];
    const enough = new AbortController();
    const isLate = sleep(PROGRAMS_MS, { signal: enough.signal, unref: true }).then(
      () => undefined,
      () => undefined,
    );
    for (const program of named.programs) {
      const look = this.lookFor(program, heads, siteList);
      const isMissing = await Promise.race([look, isLate]);
      if (isMissing === undefined) break;
      if (isMissing) warnings.push(...atPlaces(program, missing(program, heads)));
    }
    enough.abort();
    return warnings;
  }

  /** True when the program is missing or, of an uploaded one, what its first line names. */
  private async lookFor(
    program: NamedProgram,
    heads: Heads,
    siteList: readonly Site[],
  ): Promise<boolean> {
    const { name, isUploaded, hasPath, wanted } = program;
    if (!isUploaded) return this.isMissing(name, wanted, siteList);
    const head = heads.get(name);
    const start = head && scriptFault(head) === undefined ? scriptStart(head) : undefined;
    if (start === undefined) return false;
    const names = [start.interpreter, hasPath ? undefined : start.name];
    for (const one of names) {
      if (one === undefined) continue;
      const isOwn = one.includes('/') ? !one.startsWith('/') : one === start.interpreter;
      const isMissing = isOwn
        ? !heads.has(one.replace(/^\.\//, ''))
        : await this.isMissing(one, wanted, siteList);
      if (isMissing) return true;
    }
    return false;
  }

  /** True only when every site that can hold the job was asked and has it not. */
  private async isMissing(
    name: string,
    wanted: NamedProgram['wanted'],
    siteList: readonly Site[],
  ): Promise<boolean> {
    const sites = allowedSites(wanted, siteList).filter(
      (site) => lackOf(site, wanted.resources) === undefined,
    );
    for (const site of sites) {
      if ((await this.ownWorker.hasProgram(name, site)) !== false) return false;
    }
    return sites.length > 0;
  }

  private async missingFiles(
    { user, group }: Pick<Principal, 'user' | 'group'>,
    { files }: NamedResources,
  ): Promise<PlacedWarning[]> {
    if (files.size === 0) return [];
    const found = await this.catalogue.files({ user, group }, [...files.keys()]);
    return [...files].flatMap(([path, mentions]) => {
      const file = found.get(path);
      const shownPath = path.slice(0, MAX_SHOWN);
      return mentions.flatMap(({ isFetched, ...mention }): PlacedWarning[] => {
        if (!file) {
          const detail = `${shownPath} is not in the catalogue`;
          return [{ code: 'manifest.no-input-file', detail, ...mention }];
        }
        if (isFetched ? file.isFetched : file.replicas.length > 0) return [];
        const detail = `${shownPath} ${isFetched ? NOT_FETCHED : NO_ADDRESS}`;
        return [{ code: 'manifest.input-not-brought', detail, ...mention }];
      });
    });
  }
}

/** The first bytes of the uploaded files, by their names. */
type Heads = ReadonlyMap<string, Buffer>;

/** Scripts that were saved so that Linux reads their first line otherwise than their author. */
function scriptWarnings({ programs }: NamedResources, heads: Heads): PlacedWarning[] {
  return [...programs].flatMap((program) => {
    const head = program.isUploaded ? heads.get(program.name) : undefined;
    const fault = head && scriptFault(head);
    return fault === undefined ? [] : atPlaces(program, SCRIPT_FAULTS[fault](program.name, head));
  });
}

type Said = Pick<PlacedWarning, 'code' | 'detail'>;

const SCRIPT_FAULTS = {
  'line-ends': (name: string, head: Buffer | undefined): Said => ({
    code: 'manifest.script-line-ends',
    detail: `The first line of ${shown(name)} has a carriage return (CRLF), which belongs to the word before it: ${line(head)}; save the file with LF line ends`,
  }),
  'byte-order-mark': (name: string, head: Buffer | undefined): Said => ({
    code: 'manifest.script-byte-order-mark',
    detail: `${shown(name)} begins with a byte order mark, behind which Linux sees no #!: ${line(head)}; save the file as UTF-8 without it`,
  }),
};

function missing({ name, isUploaded }: NamedProgram, heads: Heads): Said {
  if (!isUploaded) {
    const detail = `${shown(name)} was neither uploaded nor found on a site that can run the job`;
    return { code: 'manifest.no-program', detail };
  }
  const detail = `The interpreter of ${shown(name)} was not found on a site that can run the job: ${line(heads.get(name))}`;
  return { code: 'manifest.no-interpreter', detail };
}

function atPlaces({ places }: NamedProgram, said: Said): PlacedWarning[] {
  return places.map((place) => ({ ...said, pointer: pointerTo('Executable'), place }));
}

function shown(name: string): string {
  return name.slice(0, MAX_SHOWN);
}

function line(head: Buffer | undefined): string {
  return shownFirstLine(head ?? Buffer.alloc(0));
}
