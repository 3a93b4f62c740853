import { Injectable } from '@nestjs/common';
import type { ProviderChoice } from './login.page.js';

/** Identity providers through which users may sign in. */
@Injectable()
export class LoginProviders {
  /** In the order of the configuration. */
  list(): readonly ProviderChoice[] {
    return [];
  }
}
