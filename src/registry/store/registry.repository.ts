import { Inject, Injectable } from '@nestjs/common';
import { Problem, stringifyJson, type JsonObject } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { Database, type Queryable } from '#src/database/index.js';
import type { Property } from '../model/property.js';
import { RegistrySnapshot } from './registry-snapshot.js';
import type {
  Client,
  Drain,
  Group,
  Member,
  RegistryContents,
  Setup,
  Share,
  Site,
  User,
} from '../model/registry.types.js';
import type { StorageElement } from '../model/storage-element.js';

/** Channel of the change feed; database triggers notify it on every change of a registry table. */
export const REGISTRY_CHANNEL = 'registry';

const FILE_RULES =
  'A file rules the registry (GRID_REGISTRY_SYNC): change the file and load it with `gridgate registry load` (`disabled: false` there enables a user); a start with GRID_REGISTRY_SYNC=false ends that';

type Nullable<T, K extends keyof T> = Omit<T, K> & { [P in K]: T[P] | null };

type OptionalOfClient =
  | 'secretHash'
  | 'postLogoutRedirectUris'
  | 'audiences'
  | 'authentication'
  | 'jwks'
  | 'subjectDn'
  | 'profile'
  | 'idTokenAlg'
  | 'scopes'
  | 'group';

interface RegistryRow {
  version: number;
  users: User[];
  groups: (Omit<Nullable<Group, 'vo' | 'idpRole' | 'limits'>, 'properties'> & {
    properties: Property[];
  })[];
  setups: Nullable<Setup, 'groups'>[];
  applications: Nullable<Client, OptionalOfClient>[];
  storageElements: Nullable<StorageElement, Exclude<keyof StorageElement, 'name'>>[];
  sites: (Nullable<Site, Exclude<keyof Site, 'name' | 'backend' | 'options'>> & {
    options: JsonObject;
  })[];
  shares: Share[];
  drains: ({ site: string } & Drain)[];
  registrations: { id: string; seconds: number }[];
  departures: (Member & { seconds: number })[];
}

/** First the row that every change of the registry writes: whoever writes the whole registry has it before the drains. */
const HELD = 'held as materialized (select from registry_state for update)';

// One statement sees one state of all tables, also without a transaction. json, not jsonb: putting a jsonb list of 40,000 members
// into a jsonb object takes PostgreSQL 7 s (the square of the length), text of the same takes 0.03 s.
const READ_ALL = `
  select
    (select version from registry_state) as version,
    (select coalesce(json_agg(json_strip_nulls(json_build_object(
        'name', u.name, 'sub', u.sub, 'fullName', u.full_name, 'email', u.email,
        'limits', u.limits, 'disabled', nullif(u.disabled, false),
        'certificates', coalesce(c.dns, '[]'), 'subjects', coalesce(s.subjects, '[]')))
        order by u.position, u.name), '[]')
      from registry_user u
      left join (select user_name, 
          json_agg(json_strip_nulls(json_build_object('subject', dn, 'issuer', issuer)) order by position) as dns
        from registry_certificate group by user_name) c on c.user_name = u.name
      left join (select user_name,
          json_agg(json_build_object('issuer', issuer, 'sub', sub) order by position) as subjects
        from registry_subject group by user_name) s on s.user_name = u.name) as users,
    (select coalesce(json_agg(json_build_object(
        'name', g.name, 'vo', g.vo, 'properties', g.properties, 'idpScopes', g.idp_scopes,
        'idpRole', g.idp_role, 'limits', g.limits, 'members', coalesce(m.members, '[]'))
        order by g.position, g.name), '[]')
      from registry_group g
      left join (select group_name, json_agg(user_name order by position) as members
        from registry_member group by group_name) m on m.group_name = g.name) as groups,
    (select coalesce(json_agg(json_build_object('name', name, 'groups', groups)
        order by position, name), '[]') from registry_setup) as setups,
    (select coalesce(json_agg(json_build_object(
        'id', id, 'name', name, 'redirectUris', redirect_uris,
        'postLogoutRedirectUris', post_logout_redirect_uris, 'confidential', confidential,
        'secretHash', secret_hash, 'audiences', audiences,
        'authentication', authentication, 'jwks', jwks, 'subjectDn', subject_dn,
        'profile', profile, 'idTokenAlg', id_token_alg, 'scopes', scopes, 'group', group_name, 'origin', origin)
        order by position, id), '[]') from registry_application) as applications,
    (select coalesce(json_agg(json_build_object('name', name, 'description', description, 'url', url,
        'kind', kind, 'vos', vos, 'base', base, 'audience', audience, 'credentialsFile', credentials_file,
        'removes', removes)
        order by position, name), '[]') from registry_storage_element) as "storageElements",
    (select coalesce(json_agg(json_build_object(
        'name', name, 'backend', backend, 'options', options, 'setups', setups, 'vos', vos, 'slots', slots,
        'processors', processors, 'ramMB', ram_mb, 'gpus', gpus, 'tags', tags,
        'maxWallTime', max_wall_time, 'network', network, 'limits', limits, 'connection', connection)
        order by position, name), '[]') from registry_site) as sites,
    (select coalesce(json_agg(json_build_object('name', group_name, 'weight', weight)
        order by position, group_name), '[]') from registry_share) as shares,
    (select coalesce(json_agg(json_build_object('site', site, 'reason', reason, 'by', drained_by,
        'since', to_char(drained_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))), '[]')
      from registry_drain) as drains,
    (select coalesce(json_agg(json_build_object('id', id, 'seconds', extract(epoch from created_at))), '[]')
      from registry_application) as registrations,
    (select coalesce(json_agg(json_build_object('user', user_name, 'group', group_name,
        'seconds', floor(extract(epoch from left_at)))), '[]') from registry_departure) as departures`;

const REWRITTEN = [
  'registry_share',
  'registry_member',
  'registry_certificate',
  'registry_subject',
  'registry_user',
  'registry_group',
  'registry_setup',
  'registry_storage_element',
  'registry_site',
];

const ITEMS = (section: string): string =>
  `jsonb_array_elements($1::jsonb -> '${section}') with ordinality as item (body, position)`;
const TEXTS = (member: string): string =>
  `array(select jsonb_array_elements_text(body -> '${member}'))`;
const MAYBE_TEXTS = (member: string): string =>
  `case when body ? '${member}' then ${TEXTS(member)} end`;

const INSERTS = [
  `insert into registry_user (name, position, sub, full_name, email, limits, disabled)
    select body ->> 'name', position, body ->> 'sub', body ->> 'fullName', body ->> 'email', body -> 'limits',
      body ? 'disabled'
    from ${ITEMS('users')}`,
  `insert into registry_certificate (dn, issuer, user_name, position)
    select certificate ->> 'subject', certificate ->> 'issuer', body ->> 'name', place
    from ${ITEMS('users')},
      jsonb_array_elements(body -> 'certificates') with ordinality as c (certificate, place)`,
  `insert into registry_subject (issuer, sub, user_name, position)
    select subject ->> 'issuer', subject ->> 'sub', body ->> 'name', place
    from ${ITEMS('users')},
      jsonb_array_elements(body -> 'subjects') with ordinality as s (subject, place)`,
  `insert into registry_group (name, position, vo, properties, idp_scopes, idp_role, limits)
    select body ->> 'name', position, body ->> 'vo', ${TEXTS('properties')}, ${TEXTS('idpScopes')},
      body ->> 'idpRole', body -> 'limits'
    from ${ITEMS('groups')}`,
  `insert into registry_member (group_name, user_name, position)
    select body ->> 'name', member, place
    from ${ITEMS('groups')},
      jsonb_array_elements_text(body -> 'members') with ordinality as m (member, place)`,
  `insert into registry_setup (name, position, groups)
    select body ->> 'name', position, ${MAYBE_TEXTS('groups')} from ${ITEMS('setups')}`,
  `insert into registry_storage_element
      (name, position, description, url, kind, vos, base, audience, credentials_file, removes)
    select body ->> 'name', position, body ->> 'description', body ->> 'url', body ->> 'kind',
      ${MAYBE_TEXTS('vos')}, body ->> 'base', body ->> 'audience', body ->> 'credentialsFile',
      (body ->> 'removes')::boolean
    from ${ITEMS('storageElements')}`,
  `insert into registry_site (name, position, backend, options, setups, vos, slots, processors, ram_mb,
      gpus, tags, max_wall_time, network, limits, connection)
    select body ->> 'name', position, body ->> 'backend', body -> 'options', ${MAYBE_TEXTS('setups')},
      ${MAYBE_TEXTS('vos')}, (body ->> 'slots')::integer, (body ->> 'processors')::integer, (body ->> 'ramMB')::integer,
      (body ->> 'gpus')::integer, ${MAYBE_TEXTS('tags')}, (body ->> 'maxWallTime')::integer,
      body ->> 'network', body -> 'limits', body -> 'connection'
    from ${ITEMS('sites')}`,
  `insert into registry_share (group_name, position, weight)
    select body ->> 'name', position, (body ->> 'weight')::integer from ${ITEMS('shares')}`,
  `insert into registry_application
      (id, position, name, redirect_uris, post_logout_redirect_uris, confidential, secret_hash,
        audiences, authentication, jwks, subject_dn, profile, id_token_alg, scopes, group_name, origin)
    select body ->> 'id', position, body ->> 'name', ${TEXTS('redirectUris')},
      ${MAYBE_TEXTS('postLogoutRedirectUris')},
      (body ->> 'confidential')::boolean, body ->> 'secretHash', ${MAYBE_TEXTS('audiences')},
      body ->> 'authentication', body -> 'jwks', body ->> 'subjectDn', body ->> 'profile',
      body ->> 'idTokenAlg', ${MAYBE_TEXTS('scopes')}, body ->> 'group', body ->> 'origin'
    from ${ITEMS('applications')}
    on conflict (id) do update set position = excluded.position, name = excluded.name,
      redirect_uris = excluded.redirect_uris,
      post_logout_redirect_uris = excluded.post_logout_redirect_uris, confidential = excluded.confidential,
      secret_hash = excluded.secret_hash, audiences = excluded.audiences,
      authentication = excluded.authentication, jwks = excluded.jwks,
      subject_dn = excluded.subject_dn, profile = excluded.profile, id_token_alg = excluded.id_token_alg, scopes = excluded.scopes,
      group_name = excluded.group_name`,
];

/** Queries of the registry. */
@Injectable()
export class RegistryRepository {
  constructor(
    private readonly database: Database,
    @Inject(CONFIG) private readonly config: Pick<Config, 'issuerVo'>,
  ) {}

  /** The number that grows with every change. */
  async version(): Promise<number> {
    const [row] = await this.database.query<{ version: number }>({
      name: 'registry-version',
      text: 'select version from registry_state',
    });
    return row?.version ?? 0;
  }

  /** Whether the file of GRID_REGISTRY rules here. */
  async fileRules(queryable: Queryable = this.database): Promise<boolean> {
    const [row] = await queryable.query<{ rules: boolean }>({
      name: 'registry-file-rules',
      text: 'select file_rules as rules from registry_state',
    });
    return row?.rules ?? false;
  }

  /** Throws Problem 409 where the file of GRID_REGISTRY rules. */
  async refuseWhereFileRules(queryable: Queryable = this.database): Promise<void> {
    if (await this.fileRules(queryable)) throw new Problem('registry.file-rules', FILE_RULES);
  }

  /** Keeps whether the file of GRID_REGISTRY rules. */
  async letFileRule(rules: boolean): Promise<void> {
    await this.database.execute({
      name: 'registry-let-file-rule',
      text: 'update registry_state set file_rules = $1 where file_rules <> $1',
      values: [rules],
    });
  }

  /** The whole registry in one state. */
  async read(queryable: Queryable = this.database): Promise<RegistrySnapshot> {
    const [row] = await queryable.query<RegistryRow>({ name: 'registry-read', text: READ_ALL });
    if (!row) throw new Error('the registry answers no row');
    const drains = new Map(row.drains.map(({ site, ...drain }) => [site, drain]));
    const registrations = new Map(row.registrations.map(({ id, seconds }) => [id, seconds]));
    return new RegistrySnapshot(contentsOf(row), row.version, {
      ...{ drains, registrations, departures: row.departures },
      issuerVo: this.config.issuerVo,
    });
  }

  /** Keeps new jobs from a site. */
  async drain(
    site: string,
    { by, reason, since }: { by: string; reason: string; since: Date },
  ): Promise<void> {
    await this.database.execute({
      name: 'registry-drain',
      text: `with ${HELD} insert into registry_drain (site, reason, drained_by, drained_at)
        select $1::text, $2::text, $3::text, $4::timestamptz from held
        on conflict (site) do update set
          reason = excluded.reason, drained_by = excluded.drained_by, drained_at = excluded.drained_at`,
      values: [site, reason, by, since],
    });
  }

  /** Lets a site get jobs again. */
  async resume(site: string): Promise<void> {
    await this.database.execute({
      name: 'registry-resume',
      text: `with ${HELD} delete from registry_drain where site = $1 and exists (select from held)`,
      values: [site],
    });
  }

  /** Users who have or had one of these subjects, by subject. */
  async knownSubjects(queryable: Queryable, subs: readonly string[]): Promise<Map<string, string>> {
    const rows = await queryable.query<{ sub: string; name: string }>({
      text: 'select sub, user_name as name from registry_known_subject where sub = any($1::text[])',
      values: [subs],
    });
    return new Map(rows.map(({ sub, name }) => [sub, name]));
  }

  /** Notes memberships that end; `leftAt` is of an instance's clock, as what tokens say of their time. */
  async noteDepartures(
    transaction: Queryable,
    departures: readonly Member[],
    leftAt: Date,
  ): Promise<void> {
    await transaction.execute({
      text: `insert into registry_departure (user_name, group_name, left_at)
        select *, $3::timestamptz from unnest($1::text[], $2::text[])
        on conflict (user_name, group_name) do update set left_at = excluded.left_at`,
      values: [departures.map(({ user }) => user), departures.map(({ group }) => group), leftAt],
    });
  }

  /**
   * Makes the tables hold these contents, each by one statement however many rows there are; the caller holds the
   * registry's lock in the transaction and has checked the references. Everything but applications (they have a date)
   * is written anew: loads are rare.
   */
  async write(transaction: Queryable, contents: RegistryContents): Promise<void> {
    const ids = contents.applications.map((client) => client.id);
    await transaction.execute({
      text: 'delete from registry_application where not id = any($1::text[])',
      values: [ids],
    });
    for (const table of REWRITTEN) await transaction.execute({ text: `delete from ${table}` });
    const json = stringifyJson({
      ...contents,
      groups: contents.groups.map((group) => ({ ...group, properties: [...group.properties] })),
    });
    for (const text of INSERTS) await transaction.execute({ text, values: [json] });
    await transaction.execute({
      text: 'delete from registry_drain where not site = any (select name from registry_site)',
    });
  }
}

function contentsOf(row: RegistryRow): RegistryContents {
  return {
    users: row.users,
    groups: row.groups.map((group) => ({
      ...withoutNulls<Group>(group),
      properties: new Set(group.properties),
    })),
    setups: row.setups.map((setup) => withoutNulls<Setup>(setup)),
    applications: row.applications.map((client) => withoutNulls<Client>(client)),
    storageElements: row.storageElements.map((element) => withoutNulls<StorageElement>(element)),
    sites: row.sites.map((site) => withoutNulls<Site>(site)),
    shares: row.shares,
  };
}

function withoutNulls<T extends object>(row: object): T {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as T;
}
