import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Segments of all fields by place: what holds at a label stands at the beginnings of the label, so compatible values
 * need one probe per place, not one per place and field, and none of the table.
 */
export class PlaceSegments1763600100081 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create index catalogue_segment_place on catalogue_segment (lo)
        include (hi, field_id, int_value, float_value, text_value)
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index catalogue_segment_place');
  }
}
