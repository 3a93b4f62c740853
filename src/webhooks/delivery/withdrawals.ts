import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { ConsentsService, type Withdrawal } from '#src/auth/index.js';
import { type Clock, CLOCK } from '#src/kernel/index.js';
import { Audit } from '#src/audit/index.js';
import type { Transaction } from '#src/database/index.js';
import { WebhooksRepository } from '../store/webhooks.repository.js';

const REASON = 'what the application was allowed has been withdrawn';

/** Disables the webhooks of an application from which a user takes back what it was allowed. */
@Injectable()
export class Withdrawals implements OnModuleInit {
  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly consents: ConsentsService,
    private readonly webhooks: WebhooksRepository,
    private readonly audit: Audit,
  ) {}

  onModuleInit(): void {
    this.consents.onWithdrawal((withdrawal, transaction) => this.disable(withdrawal, transaction));
  }

  private async disable({ user, clientId }: Withdrawal, transaction: Transaction): Promise<void> {
    const now = new Date(this.clock.now());
    const disabled = await this.webhooks.disableOf({ user, clientId }, REASON, now, transaction);
    for (const { id, group, setup } of disabled) {
      const actor = { user, group, setup, client: clientId };
      this.audit.done('webhook.disabled', { webhook: id, reason: REASON }, { actor });
    }
  }
}
