import { Injectable } from '@nestjs/common';
import { Database, type Queryable } from '#src/platform/index.js';

/** An authorization code as it is stored: its hash, and to what it is bound. */
export interface StoredCode {
  hash: string;
  consentId: string;
  /** As sent in the authorization request; null when it was not sent. */
  redirectUri: string | null;
  codeChallenge: string | null;
  expiresAt: Date;
  usedAt: Date | null;
}

/** Queries of authorization codes. */
@Injectable()
export class AuthorizationCodesRepository {
  constructor(private readonly database: Database) {}

  async add(queryable: Queryable, code: Omit<StoredCode, 'usedAt'>): Promise<void> {
    await queryable.execute({
      name: 'auth-code-add',
      text: `insert into authorization_code
          (code_hash, grant_id, redirect_uri, code_challenge, expires_at)
        values ($1, $2, $3, $4, $5)`,
      values: [code.hash, code.consentId, code.redirectUri, code.codeChallenge, code.expiresAt],
    });
  }

  async find(hash: string): Promise<StoredCode | undefined> {
    const [row] = await this.database.query<StoredCode>({
      name: 'auth-code-find',
      text: `select code_hash as "hash", grant_id as "consentId", redirect_uri as "redirectUri",
          code_challenge as "codeChallenge", expires_at as "expiresAt", used_at as "usedAt"
        from authorization_code where code_hash = $1`,
      values: [hash],
    });
    return row;
  }

  /** Uses the code up; false when it was used already. Of parallel calls exactly one answers true. */
  async consume(queryable: Queryable, hash: string, now: Date): Promise<boolean> {
    const rows = await queryable.execute({
      name: 'auth-code-consume',
      text: `update authorization_code set used_at = $2
        where code_hash = $1 and used_at is null`,
      values: [hash, now],
    });
    return rows === 1;
  }
}
