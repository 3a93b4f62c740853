import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { MoreThan, Repository } from 'typeorm';
import type { Transaction } from '#src/database/index.js';
import { ExpiredRows } from '#src/runtime/index.js';
import { DeviceAuthorizationEntity } from './device-authorization.entity.js';

/** Queries of device authorizations. */
@Injectable()
export class DeviceAuthorizationsRepository implements OnApplicationBootstrap {
  constructor(
    @InjectRepository(DeviceAuthorizationEntity)
    private readonly devices: Repository<DeviceAuthorizationEntity>,
    private readonly expiredRows: ExpiredRows,
  ) {}

  onApplicationBootstrap(): void {
    this.expiredRows.removeFrom(DeviceAuthorizationEntity);
  }

  /** Adds one; false when the user code is taken. */
  async add(device: DeviceAuthorizationEntity): Promise<boolean> {
    const insert = this.devices.createQueryBuilder().insert().values(device);
    const inserted = await insert.orIgnore().returning('user_code').execute();
    return (inserted.raw as unknown[]).length === 1;
  }

  /** The one that waits for this user code. */
  async pending(userCode: string, now: Date): Promise<DeviceAuthorizationEntity | undefined> {
    const waiting = { userCode, status: 'pending' as const, expiresAt: MoreThan(now) };
    return (await this.devices.findOneBy(waiting)) ?? undefined;
  }

  /** Ends the waiting; false when it had ended already. */
  async decide(
    userCode: string,
    outcome: { status: 'allowed' | 'denied'; consentId: string | null },
    transaction?: Transaction,
  ): Promise<boolean> {
    const devices = transaction?.manager.withRepository(this.devices) ?? this.devices;
    const { affected } = await devices.update({ userCode, status: 'pending' }, outcome);
    return affected === 1;
  }

  /** The one of this device code, locked until the transaction ends. */
  async lock(
    transaction: Transaction,
    deviceCodeHash: string,
  ): Promise<DeviceAuthorizationEntity | undefined> {
    const found = await transaction.manager.findOne(DeviceAuthorizationEntity, {
      where: { deviceCodeHash },
      lock: { mode: 'pessimistic_write' },
    });
    return found ?? undefined;
  }

  async notePoll(
    transaction: Transaction,
    deviceCodeHash: string,
    poll: { polledAt: Date; intervalSeconds: number },
  ): Promise<void> {
    await transaction.manager.update(DeviceAuthorizationEntity, { deviceCodeHash }, poll);
  }

  async markUsed(transaction: Transaction, deviceCodeHash: string): Promise<void> {
    const used = { status: 'used' as const };
    await transaction.manager.update(DeviceAuthorizationEntity, { deviceCodeHash }, used);
  }
}
