import { Injectable } from '@nestjs/common';
import { Problem } from '#src/kernel/index.js';
import { RegistryService } from '#src/registry/index.js';

/** Which sites take workers. */
@Injectable()
export class WorkerSites {
  constructor(private readonly registry: RegistryService) {}

  /** Throws Problem 409 for a site that the registry does not have, or has with another backend. */
  async requireOpen(name: string): Promise<void> {
    const { backend } = (await this.registry.renewed()).site(name) ?? {};
    if (backend === 'worker') return;
    const state =
      backend === undefined
        ? `There is no site ${name}`
        : `Site ${name} has the backend ${backend}`;
    const detail = `${state}: workers run jobs of sites with the backend worker`;
    throw new Problem('worker.site-closed', detail);
  }
}
