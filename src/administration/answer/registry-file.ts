import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#src/platform/index.js';

/** What becomes of a change at the next start, where that loads a registry file. */
@Injectable()
export class RegistryFile {
  constructor(@Inject(CONFIG) private readonly config: Pick<Config, 'registryFile'>) {}

  /** A member `warnings` for the answer; nothing where the change stays. */
  warnings(): { warnings?: string[] } {
    if (this.config.registryFile === undefined) return {};
    const text =
      'The service loads a registry file at each start (GRID_REGISTRY), which undoes what it does not say: change the file, too';
    return { warnings: [text] };
  }
}
