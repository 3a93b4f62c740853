import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { AccessGuard } from './access/access.guard.js';
import { BearerStrategy } from './access/bearer.strategy.js';
import { CertificateStrategy } from './access/certificate.strategy.js';
import { ClientsService } from './clients/clients.service.js';
import { GroupsController } from './groups/groups.controller.js';
import { KeysController } from './keys/keys.controller.js';
import { KeysService } from './keys/keys.service.js';
import { SigningKeysRepository } from './keys/signing-keys.repository.js';
import { SetupsController } from './setups/setups.controller.js';
import { AccessTokens } from './token/access-token.js';
import { BearerTokens } from './token/bearer-tokens.js';
import { ClientCredentialsGrant } from './token/grants/client-credentials.grant.js';
import { GRANTS, type Grant } from './token/grants/grant.js';
import { RevocationsRepository } from './token/revocations.repository.js';
import { TokenController } from './token/token.controller.js';
import { TokenService } from './token/token.service.js';
import { VerifiedTokens } from './token/verified-tokens.js';

const GRANT_CLASSES = [ClientCredentialsGrant];

/** The authorization server, and the one guard of all routes. */
@Module({
  controllers: [TokenController, GroupsController, SetupsController, KeysController],
  providers: [
    { provide: APP_GUARD, useClass: AccessGuard },
    BearerStrategy,
    CertificateStrategy,
    BearerTokens,
    VerifiedTokens,
    AccessTokens,
    RevocationsRepository,
    SigningKeysRepository,
    KeysService,
    ClientsService,
    TokenService,
    ...GRANT_CLASSES,
    { provide: GRANTS, useFactory: (...grants: Grant[]) => grants, inject: GRANT_CLASSES },
  ],
  exports: [KeysService, ClientsService],
})
export class AuthModule {}
