import { Inject, Injectable } from '@nestjs/common';
import { sleep } from '#src/kernel/index.js';
import type { Principal } from '#src/auth/index.js';
import type { Site } from '#src/registry/index.js';
import { allowedSites } from '../manifest/manifest.js';
import { pointerTo } from '../manifest/manifest-warning.js';
import { lackOf } from '../manifest/resources.js';
import {
  EXECUTORS,
  INPUT_DATA_CATALOGUE,
  type Executor,
  type InputDataCatalogue,
} from '../run/executor.js';
import type { NamedProgram, NamedResources, PlacedWarning } from './named-resources.js';

/** Programs may lie on a file system that does not answer; a submit does not wait for it. */
const PROGRAMS_MS = 500;
const MAX_SHOWN = 200;

/**
 * Looks for what the manifests of a request name (contract 11). What is not there is a warning and no fault: it may
 * come while the job waits.
 */
@Injectable()
export class SubmitLookup {
  constructor(
    @Inject(EXECUTORS) private readonly executors: readonly Executor[],
    @Inject(INPUT_DATA_CATALOGUE) private readonly catalogue: InputDataCatalogue,
  ) {}

  /** Warnings about programs that no site has, and about files that the catalogue does not show to the submitter. */
  async warningsOf(
    submitter: Pick<Principal, 'user' | 'group'>,
    named: NamedResources,
    siteList: readonly Site[],
  ): Promise<PlacedWarning[]> {
    const programs = await this.missingPrograms(named, siteList);
    return [...programs, ...(await this.missingFiles(submitter, named))];
  }

  private async missingPrograms(
    named: NamedResources,
    siteList: readonly Site[],
  ): Promise<PlacedWarning[]> {
    const warnings: PlacedWarning[] = [];
    const enough = new AbortController();
    const isLate = sleep(PROGRAMS_MS, { signal: enough.signal, unref: true }).then(
      () => undefined,
      () => undefined,
    );
    for (const program of named.programs) {
      const isMissing = await Promise.race([this.isMissing(program, siteList), isLate]);
      if (isMissing === undefined) break;
      if (!isMissing) continue;
      const shown = program.name.slice(0, MAX_SHOWN);
      const detail = `${shown} was neither uploaded nor found on a site that can run the job`;
      const pointer = pointerTo('Executable');
      for (const place of program.places) {
        warnings.push({ code: 'manifest.no-program', detail, pointer, place });
      }
    }
    enough.abort();
    return warnings;
  }

  /** True only when every site that can hold the job was asked and has it not. */
  private async isMissing(
    { name, wanted }: NamedProgram,
    siteList: readonly Site[],
  ): Promise<boolean> {
    const sites = allowedSites(wanted, siteList).filter(
      (site) => lackOf(site, wanted.resources) === undefined,
    );
    for (const site of sites) {
      const executor = this.executors.find((one) => one.serves(site));
      if ((await executor?.hasProgram(name, site)) !== false) return false;
    }
    return sites.length > 0;
  }

  private async missingFiles(
    { user, group }: Pick<Principal, 'user' | 'group'>,
    { files }: NamedResources,
  ): Promise<PlacedWarning[]> {
    if (files.size === 0) return [];
    const missing = await this.catalogue.missing({ user, group }, [...files.keys()]);
    return missing.flatMap((path) => {
      const detail = `${path.slice(0, MAX_SHOWN)} is not in the catalogue`;
      return (files.get(path) ?? []).map((mention): PlacedWarning => ({
        code: 'manifest.no-input-file',
        detail,
        ...mention,
      }));
    });
  }
}
