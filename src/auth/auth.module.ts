import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { IdProviderModule } from '#src/id-provider/index.js';
import { AccessGuard } from './access/access.guard.js';
import { BearerStrategy } from './access/bearer.strategy.js';
import { CertificateStrategy } from './access/certificate.strategy.js';
import { AuthorizationCodesRepository } from './authorize/authorization-codes.repository.js';
import { AuthorizeController } from './authorize/authorize.controller.js';
import { AuthorizePages } from './authorize/authorize.pages.js';
import { AuthorizeService } from './authorize/authorize.service.js';
import { ClientAuthenticator } from './clients/client-authenticator.js';
import { ClientsService } from './clients/clients.service.js';
import { ApplicationsController } from './consents/applications.controller.js';
import { ApplicationsPages } from './consents/applications.pages.js';
import { ConsentsRepository } from './consents/consents.repository.js';
import { ConsentsService } from './consents/consents.service.js';
import { DeviceAuthorizationsRepository } from './device/device-authorizations.repository.js';
import { DeviceController } from './device/device.controller.js';
import { DevicePages } from './device/device.pages.js';
import { DeviceService } from './device/device.service.js';
import { GroupsController } from './groups/groups.controller.js';
import { InspectController } from './inspect/inspect.controller.js';
import { InspectService } from './inspect/inspect.service.js';
import { TokenInspector } from './inspect/token-inspector.js';
import { KeysController } from './keys/keys.controller.js';
import { KeysService } from './keys/keys.service.js';
import { SigningKeysRepository } from './keys/signing-keys.repository.js';
import { CleaningService } from './limits/cleaning.service.js';
import { RateLimits } from './limits/rate-limits.js';
import { BrowserSessionsRepository } from './login/browser-sessions.repository.js';
import { BrowserSessionsService } from './login/browser-sessions.service.js';
import { LoginController } from './login/login.controller.js';
import { LoginPages } from './login/login.pages.js';
import { LoginProviders } from './login/login-providers.js';
import { MetadataController } from './metadata/metadata.controller.js';
import { SetupsController } from './setups/setups.controller.js';
import { AccessTokens } from './token/access-token.js';
import { BearerTokens } from './token/bearer-tokens.js';
import { ExternalTokens } from './token/external-tokens.js';
import { AuthorizationCodeGrant } from './token/grants/authorization-code.grant.js';
import { ClientCredentialsGrant } from './token/grants/client-credentials.grant.js';
import { DeviceCodeGrant } from './token/grants/device-code.grant.js';
import { GRANTS, type Grant } from './token/grants/grant.js';
import { RefreshTokenGrant } from './token/grants/refresh-token.grant.js';
import { TokenExchangeGrant } from './token/grants/token-exchange.grant.js';
import { RefreshTokensRepository } from './token/refresh-tokens.repository.js';
import { RefreshTokensService } from './token/refresh-tokens.service.js';
import { RevocationsRepository } from './token/revocations.repository.js';
import { TokenController } from './token/token.controller.js';
import { TokenIssuer } from './token/token-issuer.js';
import { TokenService } from './token/token.service.js';
import { VerifiedTokens } from './token/verified-tokens.js';

const GRANT_CLASSES = [
  ClientCredentialsGrant,
  AuthorizationCodeGrant,
  RefreshTokenGrant,
  DeviceCodeGrant,
  TokenExchangeGrant,
];

const ACCESS = [
  { provide: APP_GUARD, useClass: AccessGuard },
  BearerStrategy,
  CertificateStrategy,
  BearerTokens,
  ExternalTokens,
  VerifiedTokens,
];

const TOKENS = [
  AccessTokens,
  TokenIssuer,
  TokenService,
  RefreshTokensService,
  RefreshTokensRepository,
  RevocationsRepository,
  ...GRANT_CLASSES,
  { provide: GRANTS, useFactory: (...grants: Grant[]) => grants, inject: GRANT_CLASSES },
  InspectService,
  TokenInspector,
  KeysService,
  SigningKeysRepository,
];

const PAGES = [
  AuthorizePages,
  AuthorizeService,
  AuthorizationCodesRepository,
  DevicePages,
  DeviceService,
  DeviceAuthorizationsRepository,
  ApplicationsPages,
  ConsentsService,
  ConsentsRepository,
  BrowserSessionsService,
  BrowserSessionsRepository,
  LoginProviders,
  LoginPages,
];

/** The authorization server, and the one guard of all routes. */
@Module({
  imports: [IdProviderModule],
  controllers: [
    TokenController,
    GroupsController,
    SetupsController,
    AuthorizeController,
    DeviceController,
    LoginController,
    InspectController,
    ApplicationsController,
    KeysController,
    MetadataController,
  ],
  providers: [
    ...ACCESS,
    ...TOKENS,
    ...PAGES,
    ClientsService,
    ClientAuthenticator,
    RateLimits,
    CleaningService,
  ],
  exports: [KeysService, ClientsService],
})
export class AuthModule {}
