import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Receivers of events, and what was sent to them. */
export class CreateWebhooks1763900200001 implements MigrationInterface {
  name = 'CreateWebhooks1763900200001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table webhook (
        id uuid primary key,
        user_name text not null,
        group_name text not null,
        setup text not null,
        client_id text not null,
        scope text not null,
        url text not null,
        source text not null,
        filter jsonb not null,
        description text not null default '',
        secret text not null,
        previous_secret text,
        previous_until timestamptz,
        enabled boolean not null default true,
        disabled_reason text,
        disabled_at timestamptz,
        position bigint not null,
        created_at timestamptz not null,
        updated_at timestamptz not null
      ) with (fillfactor = 70);
      create index webhook_owner on webhook (user_name, group_name, setup);
      create index webhook_position on webhook (source, position) where enabled;

      create table webhook_delivery (
        number bigint generated always as identity primary key,
        id uuid not null,
        webhook_id uuid not null references webhook on delete cascade,
        type text not null,
        subject text not null,
        in_order boolean not null,
        body text not null,
        rights jsonb not null,
        state text not null default 'waiting',
        created_at timestamptz not null,
        attempts integer not null default 0,
        tried_since timestamptz,
        next_attempt timestamptz not null,
        claimed_until timestamptz,
        finished_at timestamptz,
        status integer,
        error text
      ) with (fillfactor = 70);
      create unique index webhook_delivery_id on webhook_delivery (webhook_id, id);
      create index webhook_delivery_number on webhook_delivery (webhook_id, number);
      create index webhook_delivery_waiting on webhook_delivery (webhook_id, subject, number)
        where state = 'waiting';
      create index webhook_delivery_due on webhook_delivery (webhook_id, next_attempt)
        where state = 'waiting';
      create index webhook_delivery_claimed on webhook_delivery (claimed_until)
        where state = 'waiting' and claimed_until is not null;
      create index webhook_delivery_finished on webhook_delivery (finished_at)
        where state <> 'waiting';
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table webhook_delivery; drop table webhook');
  }
}
