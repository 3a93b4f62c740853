import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditEventEntity } from './audit-event.entity.js';
import { AuditEventsRepository } from './audit-events.repository.js';

/** The audit trail in the database and its statements. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([AuditEventEntity])],
  providers: [AuditEventsRepository],
  exports: [AuditEventsRepository],
})
export class AuditTrailModule {}
