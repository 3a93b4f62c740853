import { Inject, Module, type DynamicModule, type Provider } from '@nestjs/common';
import { OAuth2IdProvider } from '../oauth2-id-provider.js';
import { IdProvidersService } from './id-providers.service.js';
import { LoginSessionsRepository } from './login-sessions.repository.js';
import { RefreshSchedule } from './refresh.schedule.js';

/** Injection token of the provider of this name. */
export function idProviderToken(name: string): string {
  return `gridgate:id-provider:${name}`;
}

/** Injects the provider of this name; see IdProviderModule.forProviders. */
export function InjectIdProvider(name: string): ReturnType<typeof Inject> {
  return Inject(idProviderToken(name));
}

/** The identity providers of GRID_ID_PROVIDERS. */
@Module({
  providers: [IdProvidersService, LoginSessionsRepository, RefreshSchedule],
  exports: [IdProvidersService, LoginSessionsRepository],
})
export class IdProviderModule {
  /**
   * Makes the named providers injectable with InjectIdProvider. What is injected finds its provider when it is first
   * used, as the file is read after the module is made; an unknown name fails then.
   */
  static forProviders(names: readonly string[]): DynamicModule {
    const providers: Provider[] = names.map((name) => ({
      provide: idProviderToken(name),
      inject: [IdProvidersService],
      useFactory: (service: IdProvidersService) => () => requireProvider(service, name),
    }));
    return {
      module: IdProviderModule,
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
