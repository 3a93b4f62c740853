import { Module, type DynamicModule, type ModuleMetadata, type Type } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { IdProviderModule } from '#src/id-provider/index.js';
import { AllKeysService } from './keys/all-keys.service.js';
import {
  AccessGuard,
  BearerStrategy,
  BearerGuard,
  OpenGuard,
  CertificateGuard,
} from './access/access.guard.js';
import { CertificateUsers } from './access/certificate-users.js';
import { AuthorizationCodeEntity } from './stores/authorization-code.entity.js';
import { AuthorizationCodesRepository } from './stores/authorization-codes.repository.js';
import { AuthorizeController } from './authorize/authorize.controller.js';
import { AuthorizePages } from './authorize/authorize.pages.js';
import { AuthorizeDecisions } from './authorize/authorize.decisions.js';
import { AuthorizeService } from './authorize/authorize.service.js';
import { ClientAssertions } from './clients/client-assertions.js';
import { ClientCertificates } from './clients/client-certificates.js';
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
import { IdTokenKeyEntity } from './keys/id-token-key.entity.js';
import { IdTokenKeysRepository } from './keys/id-token-keys.repository.js';
import { IdTokenKeysService } from './keys/id-token-keys.service.js';
import { KeysService } from './keys/keys.service.js';
import { SigningKeyEntity } from './keys/signing-key.entity.js';
import { SigningKeysRepository } from './keys/signing-keys.repository.js';
import { PushedRequestController } from './authorize/pushed-request.controller.js';
import { PushedRequestsService } from './authorize/pushed-requests.service.js';
import { PushedRequestEntity } from './stores/pushed-request.entity.js';
import { PushedRequestsRepository } from './stores/pushed-requests.repository.js';
import { DpopNonces } from './possession/dpop-nonces.js';
import { DpopProofs } from './possession/dpop-proofs.js';
import { DpopRequests } from './possession/dpop-requests.js';
import { RequestProofEntity } from './possession/request-proof.entity.js';
import { PeerCertificates } from './possession/peer-certificates.js';
import { SenderConstraint } from './possession/sender-constraint.js';
import { TokenHolders } from './possession/token-holders.js';
import { WorkerTokens } from './possession/worker-tokens.js';
import { WorkerGuard } from './access/worker.guard.js';
import { UsedProofEntity } from './possession/used-proof.entity.js';
import { UsedProofsRepository } from './possession/used-proofs.repository.js';
import { RateLimits } from './protocol/rate-limits.js';
import { BrowserSessionEntity } from './sign-in/sessions/browser-session.entity.js';
import { BrowserSessionsRepository } from './sign-in/sessions/browser-sessions.repository.js';
import { BrowserSessionsService } from './sign-in/sessions/browser-sessions.service.js';
import { LoginController } from './sign-in/providers/login.controller.js';
import { DemoSignIn } from './sign-in/demo/demo-sign-in.js';
import { LoginPages } from './sign-in/providers/login.pages.js';
import { LoginStates } from './sign-in/providers/login-states.js';
import { LoginProviders } from './sign-in/providers/login-providers.js';
import { MetadataController } from './metadata/metadata.controller.js';
import { SetupsController } from './token/setups.controller.js';
import { AccessTokens } from './bearer/access-token.js';
import { IdTokens } from './bearer/id-token.js';
import { BearerTokens, VerifiedTokens } from './bearer/bearer-tokens.js';
import { Delegations } from './bearer/delegations.js';
import { StorageTokens } from './bearer/storage-tokens.js';
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
import { TokenCallers } from './token/grants/token-callers.js';
import { TokenIssuer } from './token/grants/token-issuer.js';
import { TokenNarrowing } from './token/grants/token-narrowing.js';
import { TokenService } from './token/token.service.js';
import { ScopeGranter } from './bearer/scope-granter.js';
import { STORAGE_RIGHTS, type StorageRights } from './bearer/storage-rights.js';
import { LogoutController } from './openid/logout.controller.js';
import { LogoutPages } from './openid/logout.pages.js';
import { UserinfoController } from './openid/userinfo.controller.js';
import { UserinfoService } from './openid/userinfo.service.js';

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
  WorkerGuard,
  OpenGuard,
  BearerStrategy,
  CertificateUsers,
  BearerTokens,
  ExternalTokens,
  VerifiedTokens,
  ScopeGranter,
  Delegations,
  StorageTokens,
];

const TOKENS = [
  AccessTokens,
  IdTokens,
  TokenCallers,
  TokenIssuer,
  TokenNarrowing,
  TokenService,
  RefreshTokensService,
  RefreshTokensRepository,
  RevocationsRepository,
  ...GRANT_CLASSES,
  { provide: GRANT_TYPES, useFactory: (...grants: GrantType[]) => grants, inject: GRANT_CLASSES },
  InspectService,
  TokenInspector,
  UserinfoService,
  KeysService,
  SigningKeysRepository,
  IdTokenKeysService,
  IdTokenKeysRepository,
  AllKeysService,
];

const PAGES = [
  PushedRequestsService,
  PushedRequestsRepository,
  AuthorizePages,
  AuthorizeDecisions,
  AuthorizeService,
  AuthorizationCodesRepository,
  DevicePages,
  DeviceService,
  DeviceAuthorizationsRepository,
  ApplicationsPages,
  LogoutPages,
  ConsentsService,
  ConsentsRepository,
  BrowserSessionsService,
  BrowserSessionsRepository,
  DemoSignIn,
  LoginProviders,
  LoginStates,
  LoginPages,
];

const CLIENTS = [
  ClientsService,
  ClientAuthenticator,
  ClientAssertions,
  ClientCertificates,
  UsedProofsRepository,
  DpopNonces,
  DpopProofs,
  DpopRequests,
  PeerCertificates,
  SenderConstraint,
  TokenHolders,
  WorkerTokens,
];

const ENTITIES = [
  UsedProofEntity,
  RequestProofEntity,
  PushedRequestEntity,
  SigningKeyEntity,
  IdTokenKeyEntity,
  ConsentEntity,
  AuthorizationCodeEntity,
  RefreshTokenEntity,
  DeviceAuthorizationEntity,
  RevokedTokenEntity,
  BrowserSessionEntity,
];

/** What the authorization server needs of others. */
export interface AuthModuleInput {
  /** Who knows the paths of storage scopes, and the modules that have it. */
  storageRights: { imports: ModuleMetadata['imports'] & object; useExisting: Type<StorageRights> };
}

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
    UserinfoController,
    LogoutController,
    PushedRequestController,
  ],
  providers: [...ACCESS, ...TOKENS, ...PAGES, ...CLIENTS, RateLimits],
  exports: [
    KeysService,
    AllKeysService,
    ClientsService,
    ConsentsService,
    Delegations,
    StorageTokens,
    TokenHolders,
    WorkerTokens,
    RateLimits,
  ],
})
export class AuthModule {
  static forRoot({ storageRights: { imports, useExisting } }: AuthModuleInput): DynamicModule {
    const providers = [{ provide: STORAGE_RIGHTS, useExisting }];
    return { module: AuthModule, imports, providers };
  }
}
