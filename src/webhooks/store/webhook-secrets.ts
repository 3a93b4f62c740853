import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, openVault, type Config, type KeyVault } from '#src/config/index.js';
import { LOGGER, type Logger } from '#src/runtime/index.js';
import type { WebhookEntity } from './webhook.entity.js';

/** Seals the secrets of webhooks for the database, each bound to its webhook. */
@Injectable()
export class WebhookSecrets {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** The text to store. */
  async seal(webhookId: string, secret: Buffer): Promise<string> {
    return (await this.open()).seal(nameOf(webhookId), secret);
  }

  /** The secrets that sign now, the newest first. Throws KeyVaultError when they were sealed with another key. */
  async signing(webhook: WebhookEntity, now: Date): Promise<Buffer[]> {
    const vault = await this.open();
    const { id, secret, previousSecret, previousUntil } = webhook;
    const isBoth = previousSecret !== null && previousUntil !== null && previousUntil > now;
    const sealed = isBoth ? [secret, previousSecret] : [secret];
    return sealed.map((one) => vault.open(nameOf(id), one));
  }

  private open(): Promise<KeyVault> {
    return openVault(this.config, this.logger);
  }
}

function nameOf(webhookId: string): string {
  return `webhook ${webhookId}`;
}
