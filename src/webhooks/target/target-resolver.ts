import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#src/config/index.js';
import { AddressRules } from './address-rules.js';
import { HostsFile } from './hosts-file.js';

/** A receiver that is not connected to; the message is shown to its owner and names no address. */
export class TargetRefusal extends Error {
  override name = 'TargetRefusal';
}

/** Why a receiver is not connected to; none names the address that a name leads to. */
export const NOT_ALLOWED =
  'it leads to an address that webhooks may not reach: only what an administrator has listed in GRID_WEBHOOK_ALLOW may be no public address';
const NOT_FOUND =
  'its name has no address, neither in /etc/hosts of the service nor at its name servers';
const NO_ANSWER =
  'its name is not in /etc/hosts of the service, and its name servers have not answered';

/** What name servers say of names that have no addresses. */
const NONE = ['ENOTFOUND', 'ENODATA'];

/**
 * Finds the addresses of receivers and refuses those that webhooks may not reach. Looks into `/etc/hosts`, then
 * asks name servers itself: the system's own lookup keeps a thread of four busy for as long as a name server is
 * silent, and files wait for the same ones.
 */
@Injectable()
export class TargetResolver {
  readonly rules: AddressRules;
  private readonly resolver = new Resolver({ timeout: 2_000, tries: 2 });

  constructor(
    @Inject(CONFIG) config: Pick<Config, 'webhookAllow' | 'webhookResolvers'>,
    private readonly hosts: HostsFile,
  ) {
    this.rules = new AddressRules(config.webhookAllow);
    if (config.webhookResolvers.length > 0) this.resolver.setServers(config.webhookResolvers);
  }

  /**
   * The addresses of a name, or the address itself. Throws TargetRefusal when there is none, or when one of them may not
   * be connected to: a name that leads to the inside and to the outside is refused whole.
   */
  async addressesOf(host: string): Promise<string[]> {
    const addresses = isIP(host) === 0 ? await this.resolve(host) : [host];
    if (!addresses.every((one) => this.rules.allows(one))) throw new TargetRefusal(NOT_ALLOWED);
    return addresses;
  }

  private async resolve(name: string): Promise<string[]> {
    const own = await this.hosts.addressesOf(name);
    if (own.length > 0) return own;
    const answers = await Promise.allSettled([
      this.resolver.resolve4(name),
      this.resolver.resolve6(name),
    ]);
    const found = answers.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    if (found.length > 0) return found;
    const isNone = answers.every(
      (one) => one.status === 'fulfilled' || NONE.includes((one.reason as { code: string }).code),
    );
    throw new TargetRefusal(isNone ? NOT_FOUND : NO_ANSWER);
  }
}
