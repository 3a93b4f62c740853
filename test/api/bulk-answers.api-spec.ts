import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AuditTrail } from '../support/audit-trail.js';
import { startGrid, type Answer, type Grid } from '../support/testbed.js';

const LINES = 1_000;
const BROKEN = 20_000;

describe('POST /filecatalogue/bulk, when there is no room for what it has to say', () => {
  let grid: Grid;
  let audit: AuditTrail;
  beforeAll(async () => {
    const env = { GRID_ROLE: 'api', GRID_LOG_LEVEL: 'info', GRID_ANSWER_SPOOL: '1048576' };
    grid = await startGrid({ env });
    audit = new AuditTrail(grid);
  });
  afterAll(() => grid?.remove());

  const directories = (letter: string): string =>
    Array.from(
      { length: LINES },
      (_, n) => `{"kind":"directory","path":"/cut/${letter}${n}"}\n`,
    ).join('');
  const send = async (body: string): Promise<Answer> =>
    (await grid.as('fred')).post('/filecatalogue/bulk', {
      body,
      headers: { 'content-type': 'application/x-ndjson' },
    });
  const made = async (): Promise<string[]> =>
    (
      await grid.sql<{ letter: string; n: number }>(
        `select substr(name, 1, 1) as letter, count(*)::integer as n from catalogue_directory
         where path like '/cut/%' group by 1 order by 1`,
      )
    ).map(({ letter, n }) => `${letter} ${n}`);

  it('answers a whole refusal, applies nothing further, and may be sent again', async () => {
    const cut = await send(directories('a') + '{\n'.repeat(BROKEN) + directories('b'));
    expect([cut.status, cut.body.code, cut.headers['retry-after']]).toEqual([
      503,
      'service.overloaded',
      '10',
    ]);
    expect(await made()).toEqual([`a ${LINES}`]);
    const line = await audit.lineOf(cut, 'catalogue.bulk');
    expect(line).toMatchObject({ created: LINES, updated: 0, unchanged: 0, interrupted: true });
    expect(Number(line['lines'])).toBe(LINES + Number(line['failed']));

    const again = await send(directories('a') + directories('b'));
    const summary = { lines: 2 * LINES, created: LINES, updated: 0, unchanged: LINES, failed: 0 };
    expect([again.status, JSON.parse(again.bytes.toString())]).toEqual([200, summary]);
    expect(await made()).toEqual([`a ${LINES}`, `b ${LINES}`]);
  });
});
