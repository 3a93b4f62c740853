import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { IdProviderModule } from '#src/id-provider/index.js';
import { AccessGuard } from './access/access.guard.js';
import { BearerGuard } from './access/bearer.guard.js';
import { BearerStrategy } from './access/bearer.strategy.js';
import { CertificateGuard } from './access/certificate.guard.js';
import { CertificateUsers } from './access/certificate-users.js';
import { OpenGuard } from './access/open.guard.js';
import { AuthorizationCodeEntity } from './stores/authorization-code.entity.js';
import { AuthorizationCodesRepository } from './stores/authorization-codes.repository.js';
import { AuthorizeController } from './authorize/authorize.controller.js';
import { AuthorizePages } from './authorize/authorize.pages.js';
import { AuthorizeService } from './authorize/authorize.service.js';
import { ClientAuthenticator } from './clients/client-authenticator.js';
import { ClientsService } from './clients/clients.service.js';
import { ApplicationsController } from './consents/applications.controller.js';
import { ApplicationsPages } from './consents/applications.pages.js';
import { ConsentEntity } from './stores/consent.entity.js';
import { ConsentsRepository } from './stores/consents.repository.js';
import { ConsentsService } from './stores/consents.service.js';
import { DeviceAuthorizationEntity } from './stores/device-authorization.entity.js';
import { DeviceAuthorizationsRepository } from './stores/device-authorizations.repository.js';
import { DeviceController } from './device/device.controller.js';
import { DevicePages } from './device/device.pages.js';
import { DeviceService } from './device/device.service.js';
import { GroupsController } from './token/groups.controller.js';
import { InspectController } from './inspect/inspect.controller.js';
import { InspectService } from './inspect/inspect.service.js';
import { TokenInspector } from './inspect/token-inspector.js';
import { KeysController } from './metadata/keys.controller.js';
import { KeysService } from './keys/keys.service.js';
import { SigningKeyEntity } from './keys/signing-key.entity.js';
import { SigningKeysRepository } from './keys/signing-keys.repository.js';
import { CleaningService } from './cleaning/cleaning.service.js';
import { RateLimits } from './protocol/rate-limits.js';
import { BrowserSessionEntity } from './sign-in/sessions/browser-session.entity.js';
import { BrowserSessionsRepository } from './sign-in/sessions/browser-sessions.repository.js';
import { BrowserSessionsService } from './sign-in/sessions/browser-sessions.service.js';
import { LoginController } from './sign-in/providers/login.controller.js';
import { LoginPages } from './sign-in/providers/login.pages.js';
import { LoginStates } from './sign-in/providers/login-states.js';
import { LoginProviders } from './sign-in/providers/login-providers.js';
import { MetadataController } from './metadata/metadata.controller.js';
import { SetupsController } from './token/setups.controller.js';
import { AccessTokens } from './bearer/access-token.js';
import { BearerTokens } from './bearer/bearer-tokens.js';
import { ExternalTokens } from './bearer/external-tokens.js';
import { AuthorizationCodeGrant } from './token/grants/authorization-code.grant.js';
import { ClientCredentialsGrant } from './token/grants/client-credentials.grant.js';
import { DeviceCodeGrant } from './token/grants/device-code.grant.js';
import { GRANT_TYPES, type GrantType } from './token/grants/grant-type.js';
import { RefreshTokenGrant } from './token/grants/refresh-token.grant.js';
import { TokenExchangeGrant } from './token/grants/token-exchange.grant.js';
import { RefreshTokenEntity } from './stores/refresh-token.entity.js';
import { RefreshTokensRepository } from './stores/refresh-tokens.repository.js';
import { RefreshTokensService } from './stores/refresh-tokens.service.js';
import { RevokedTokenEntity } from './stores/revoked-token.entity.js';
import { RevocationsRepository } from './stores/revocations.repository.js';
import { TokenController } from './token/token.controller.js';
import { TokenIssuer } from './token/grants/token-issuer.js';
import { TokenService } from './token/token.service.js';
import { VerifiedTokens } from './bearer/verified-tokens.js';

const GRANT_CLASSES = [
  ClientCredentialsGrant,
  AuthorizationCodeGrant,
  RefreshTokenGrant,
  DeviceCodeGrant,
  TokenExchangeGrant,
];

const ACCESS = [
  { provide: APP_GUARD, useClass: AccessGuard },
  BearerGuard,
  CertificateGuard,
  OpenGuard,
  BearerStrategy,
  CertificateUsers,
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
  { provide: GRANT_TYPES, useFactory: (...grants: GrantType[]) => grants, inject: GRANT_CLASSES },
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
  LoginStates,
  LoginPages,
];

/** TypeORM entities of the room. */
export const authEntities = [SigningKeyEntity];

const ENTITIES = [
  SigningKeyEntity,
  ConsentEntity,
  AuthorizationCodeEntity,
  RefreshTokenEntity,
  DeviceAuthorizationEntity,
  RevokedTokenEntity,
  BrowserSessionEntity,
];

/** The authorization server, and the one guard of all routes. */
@Module({
  imports: [IdProviderModule, TypeOrmModule.forFeature(ENTITIES)],
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
