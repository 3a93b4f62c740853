import { Inject, Module, type DynamicModule, type Provider } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { type Clock, CLOCK } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { RegistryService } from '#src/registry/index.js';
import type { OAuth2IdProvider } from '../provider/oauth2-id-provider.js';
import { IdProvidersService } from './id-providers.service.js';
import { LoginSessionEntity } from './login-session.entity.js';
import { LoginSessionsRepository } from './login-sessions.repository.js';
import { RefreshSchedule } from './refresh.schedule.js';
import { StoredTokenEntity } from './stored-token.entity.js';
import { StoredTokensRepository } from './stored-tokens.repository.js';
import { StoredTokens } from './stored-tokens.service.js';

/** Injection token of the provider of this name. */
function idProviderToken(name: string): string {
  return `gridgate:id-provider:${name}`;
}

/** Injects the provider of this name; see IdProviderModule.forProviders. */
export function InjectIdProvider(name: string): ReturnType<typeof Inject> {
  return Inject(idProviderToken(name));
}

/** Holds what IdProviderModule.forProviders makes injectable. */
@Module({})
class NamedIdProvidersModule {}

/** The identity providers of GRID_ID_PROVIDERS. */
@Module({
  imports: [TypeOrmModule.forFeature([LoginSessionEntity, StoredTokenEntity])],
  providers: [
    LoginSessionsRepository,
    RefreshSchedule,
    StoredTokensRepository,
    StoredTokens,
    {
      provide: IdProvidersService,
      inject: [CONFIG, CLOCK, LoginSessionsRepository, RegistryService],
      useFactory: (
        config: Config,
        clock: Clock,
        loginSessions: LoginSessionsRepository,
        registry: RegistryService,
      ) => IdProvidersService.open({ config, clock, loginSessions, registry }),
    },
  ],
  exports: [IdProvidersService, LoginSessionsRepository, StoredTokens, StoredTokensRepository],
})
export class IdProviderModule {
  /**
   * Makes the named providers (OAuth2IdProvider) injectable with InjectIdProvider. A name that the file does not have
   * stops the start.
   */
  static forProviders(names: readonly string[]): DynamicModule {
    const providers: Provider[] = names.map((name) => ({
      provide: idProviderToken(name),
      inject: [IdProvidersService],
      useFactory: (service: IdProvidersService) => requireProvider(service, name),
    }));
    return {
      module: NamedIdProvidersModule,
      imports: [IdProviderModule],
      providers,
      exports: providers.map((provider) => (provider as { provide: string }).provide),
    };
  }
}

function requireProvider(service: IdProvidersService, name: string): OAuth2IdProvider {
  const found = service.find(name);
  if (!found) throw new Error(`there is no identity provider ${name} in GRID_ID_PROVIDERS`);
  return found.provider;
}
