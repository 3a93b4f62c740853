import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EventLogEntity, EventPositionEntity } from './event-log.entity.js';
import { EventLogRepository } from './event-log.repository.js';

/** The tables of the event log and their statements. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([EventLogEntity, EventPositionEntity])],
  providers: [EventLogRepository],
  exports: [EventLogRepository],
})
export class EventLogModule {}
