import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#src/platform/index.js';
import { AddressRules } from './address-rules.js';

/** A receiver that is not connected to; the message may be shown to its owner and tells nothing of inner networks. */
export class TargetRefusal extends Error {
  override name = 'TargetRefusal';
}

const NOT_REACHABLE = 'its name leads to no address, or to one that webhooks may not reach';

/**
 * Finds the addresses of receivers and refuses those that webhooks may not reach. Asks name servers itself: the
 * system's own lookup keeps a thread of four busy for as long as a name server is silent, and files wait for the same ones.
 */
@Injectable()
export class TargetResolver {
  readonly rules: AddressRules;
  private readonly resolver = new Resolver({ timeout: 2_000, tries: 2 });

  constructor(@Inject(CONFIG) config: Pick<Config, 'webhookAllow' | 'webhookResolvers'>) {
    this.rules = new AddressRules(config.webhookAllow);
    if (config.webhookResolvers.length > 0) this.resolver.setServers(config.webhookResolvers);
  }

  /**
   * The addresses of a name, or the address itself. Throws TargetRefusal when there is none, or when one of them may not
   * be connected to: a name that leads to the inside and to the outside is refused whole.
   */
  async addressesOf(host: string): Promise<string[]> {
    const addresses = isIP(host) === 0 ? await this.resolve(host) : [host];
    const isGood = addresses.length > 0 && addresses.every((one) => this.rules.allows(one));
    if (isGood) return addresses;
    throw new TargetRefusal(NOT_REACHABLE);
  }

  private async resolve(name: string): Promise<string[]> {
    const none = (): string[] => [];
    const found = await Promise.all([
      this.resolver.resolve4(name).catch(none),
      this.resolver.resolve6(name).catch(none),
    ]);
    return found.flat();
  }
}
