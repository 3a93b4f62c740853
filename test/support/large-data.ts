import type { Grid } from './testbed.js';

/** How much of everything. */
export interface LargeSizes {
  entries: number;
  closed: number;
  values: number;
  jobs: number;
}

/** The ordinal of a label as the catalogue writes it, in SQL (file-catalogue/path/label.ts). */
const ORDINAL = `
  create function large_ordinal(n integer) returns bytea immutable language sql as $$
    select case
      when n < 192 then set_byte('\\x00'::bytea, 0, n)
      when n < 12480 then set_byte(set_byte('\\x0000'::bytea, 0, 192 + ((n - 192) >> 8)), 1, (n - 192) & 255)
      else set_byte(set_byte(set_byte(set_byte('\\x00000000'::bytea, 0, 240 + ((n - 12480) >> 24)),
        1, ((n - 12480) >> 16) & 255), 2, ((n - 12480) >> 8) & 255), 3, (n - 12480) & 255)
    end $$`;

/** One directory below another; the select names the parent's columns as `p`, ordinal `n`, `name` and `mode`. */
const directories = (select: string): string => `
  insert into catalogue_directory (id, parent, owner_id, group_id, mode, depth, boundary, label, name, path)
  select nextval('catalogue_directory_id'), p.id, p.owner_id, p.group_id, m.mode, p.depth + 1, m.mode <> p.mode,
    p.label || large_ordinal(m.n), m.name, case p.path when '/' then '' else p.path end || '/' || m.name
  from (${select}) m join catalogue_directory p on p.path = m.above`;

const top = (name: string): string =>
  directories(`select next_ordinal as n, '${name}' as name, 493 as mode, '/' as above
    from catalogue_directory where path = '/'`);
const counted = `update catalogue_directory d set next_ordinal = next_ordinal + 1 where path = '/'`;

/**
 * Fills a catalogue and a table of jobs by SQL, straight into the tables: `/wide` with so many directories and as many files,
 * half of the directories below `/closed` closed to everybody, a field `many` with so many values, and jobs of alice.
 */
export async function fillLargely(grid: Grid, sizes: LargeSizes): Promise<void> {
  const { entries, closed, values, jobs } = sizes;
  await grid.sql(ORDINAL);
  for (const name of ['wide', 'closed']) {
    await grid.sql(top(name));
    await grid.sql(counted);
  }
  await grid.sql(
    directories(`select n - 1 as n, 'd' || lpad(n::text, 7, '0') as name, 493 as mode, '/wide' as above
      from generate_series(1, ${entries}) n`),
  );
  await grid.sql(
    `insert into catalogue_file (directory_id, name, size, owner_id, group_id, mode, checksum, guid, replicas)
     select d.id, 'f' || lpad(n::text, 7, '0'), n, d.owner_id, d.group_id, 493, repeat('c', 8), repeat('a', 36),
       jsonb_build_object((select min(id) from catalogue_name where kind = 'se')::text, 'srm://se.example/' || n)
     from catalogue_directory d, generate_series(1, ${entries}) n where d.path = '/wide'`,
  );
  await grid.sql(
    directories(`select n - 1 as n, 'd' || lpad(n::text, 7, '0') as name, case n % 2 when 0 then 448 else 493 end as mode,
      '/closed' as above from generate_series(1, ${2 * closed}) n`),
  );
  await grid.sql(
    `insert into catalogue_delta (files, directory_id, bytes)
     select 1, id, 10 from catalogue_directory where path like '/closed/%'`,
  );
  await grid.sql(
    `with f as (insert into catalogue_field (name, type) values ('many', 'string') returning id)
     insert into catalogue_value (field_id, text_value, segments)
     select f.id, lpad(n::text, 10, 'v'), 1 from f, generate_series(1, ${values}) n`,
  );
  await grid.sql(
    `insert into jobs (setup, owner, owner_dn, owner_group, vo, status, minor_status, name, job_group,
       job_type, site, priority, cpu_time, verified, submission_time, last_update, end_execution)
     select 'Prod', 'alice', '/DC=org/DC=grid/CN=alice', 'grid_user', 'vo', 'Done', 'Execution Complete',
       'name-' || n, 'group-' || n, 'User', 'LOCAL.demo', 1, 86400, true, now(), now(), now()
     from generate_series(1, ${jobs}) n`,
  );
  await grid.sql('analyze');
}
