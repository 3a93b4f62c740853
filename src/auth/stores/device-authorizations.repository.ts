import { Injectable } from '@nestjs/common';
import { Database, type Queryable } from '#src/platform/index.js';

/** State of a device's request. */
export type DeviceStatus = 'pending' | 'allowed' | 'denied' | 'used';

/** A device that waits for its user (RFC 8628). */
export interface DeviceAuthorization {
  deviceCodeHash: string;
  /** Without its hyphen. */
  userCode: string;
  clientId: string;
  scope: string | null;
  group: string | null;
  setup: string | null;
  consentId: string | null;
  status: DeviceStatus;
  intervalSeconds: number;
  polledAt: Date | null;
  expiresAt: Date;
}

const COLUMNS = `device_code_hash as "deviceCodeHash", user_code as "userCode", client_id as "clientId",
  scope, group_name as "group", setup, grant_id as "consentId", status,
  interval_seconds as "intervalSeconds", polled_at as "polledAt", expires_at as "expiresAt"`;

/** Queries of device authorizations. */
@Injectable()
export class DeviceAuthorizationsRepository {
  constructor(private readonly database: Database) {}

  /** Adds one; false when the user code is taken. */
  async add(device: DeviceAuthorization): Promise<boolean> {
    const rows = await this.database.execute({
      name: 'auth-device-add',
      text: `insert into device_authorization
          (device_code_hash, user_code, client_id, scope, group_name, setup, status,
            interval_seconds, expires_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (user_code) do nothing`,
      values: [
        device.deviceCodeHash,
        device.userCode,
        device.clientId,
        device.scope,
        device.group,
        device.setup,
        device.status,
        device.intervalSeconds,
        device.expiresAt,
      ],
    });
    return rows === 1;
  }

  /** The one that waits for this user code. */
  async pending(userCode: string, now: Date): Promise<DeviceAuthorization | undefined> {
    const [row] = await this.database.query<DeviceAuthorization>({
      name: 'auth-device-pending',
      text: `select ${COLUMNS} from device_authorization
        where user_code = $1 and status = 'pending' and expires_at > $2`,
      values: [userCode, now],
    });
    return row;
  }

  /** Ends the waiting; false when it had ended already. */
  async decide(
    queryable: Queryable,
    userCode: string,
    outcome: { status: 'allowed' | 'denied'; consentId: string | null },
  ): Promise<boolean> {
    const rows = await queryable.execute({
      name: 'auth-device-decide',
      text: `update device_authorization set status = $2, grant_id = $3
        where user_code = $1 and status = 'pending'`,
      values: [userCode, outcome.status, outcome.consentId],
    });
    return rows === 1;
  }

  /** The one of this device code, locked until the transaction ends. */
  async lock(queryable: Queryable, hash: string): Promise<DeviceAuthorization | undefined> {
    const [row] = await queryable.query<DeviceAuthorization>({
      name: 'auth-device-lock',
      text: `select ${COLUMNS} from device_authorization where device_code_hash = $1 for update`,
      values: [hash],
    });
    return row;
  }

  async notePoll(
    queryable: Queryable,
    hash: string,
    poll: { at: Date; intervalSeconds: number },
  ): Promise<void> {
    await queryable.execute({
      name: 'auth-device-poll',
      text: `update device_authorization set polled_at = $2, interval_seconds = $3
        where device_code_hash = $1`,
      values: [hash, poll.at, poll.intervalSeconds],
    });
  }

  async markUsed(queryable: Queryable, hash: string): Promise<void> {
    await queryable.execute({
      name: 'auth-device-used',
      text: `update device_authorization set status = 'used' where device_code_hash = $1`,
      values: [hash],
    });
  }

  async clean(now: Date): Promise<number> {
    return this.database.execute({
      text: 'delete from device_authorization where expires_at < $1',
      values: [now],
    });
  }
}
