import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  DEMO_REGISTRY,
  writeRegistryFile,
  type Group,
  type Property,
  type User,
} from '#src/registry/index.js';

/** Somebody of whose virtual organisation nothing else is: no name of theirs is a part of another name. */
export const STRANGER = { user: 'zq7-sam', group: 'zq7-users', vo: 'zq7-vo', site: 'zq7-site' };

/**
 * The demo registry, beside its virtual organisation `vo` another one with people in office, and one of a stranger.
 */
export async function writeRegistry(
  directory: string,
  url = 'https://se-a.example/vo',
): Promise<string> {
  const path = join(directory, 'two-organisations.yaml');
  const groups = [
    ...DEMO_REGISTRY.groups,
    group('vo_fc', 'vo', ['NormalUser', 'FileCatalogManagement'], 'fred'),
    group('else_user', 'else', ['NormalUser'], 'carol'),
    group('else_mon', 'else', ['JobMonitor'], 'mona'),
    group('else_adm', 'else', ['JobAdministrator'], 'adam'),
    group('else_fc', 'else', ['NormalUser', 'FileCatalogManagement'], 'fred'),
    group('free_mon', undefined, ['JobMonitor'], 'mona'),
    group('free_adm', undefined, ['JobAdministrator'], 'adam'),
    group('free_user', undefined, ['NormalUser'], 'bob'),
    group('service_adm', 'else', ['JobAdministrator', 'ServiceAdministrator'], 'adam'),
    group('service_fc', 'else', ['FileCatalogManagement', 'ServiceAdministrator'], 'fred'),
    group(STRANGER.group, STRANGER.vo, ['NormalUser'], STRANGER.user),
  ];
  const users = [...DEMO_REGISTRY.users, userOf(STRANGER.user)];
  const site = { name: STRANGER.site, backend: 'local-process', options: {} } as const;
  const sites = [
    ...DEMO_REGISTRY.sites,
    { name: 'DESK.example', backend: 'worker', options: {} } as const,
    { ...site, vos: [STRANGER.vo] },
  ];
  const address = { url, kind: 'webdav', vos: ['vo'] } as const;
  const storageElements = DEMO_REGISTRY.storageElements.map((element) => ({
    ...element,
    ...(element.name === 'SE-A' && address),
  }));
  const registry = { ...DEMO_REGISTRY, users, groups, sites, storageElements };
  await writeFile(path, writeRegistryFile(registry));
  return path;
}

/** Somebody with a certificate of the demo's CA. */
function userOf(name: string): User {
  return { name, certificates: [{ subject: subjectOf(name) }], subjects: [] };
}

/** The DN of somebody. */
export function subjectOf(name: string): string {
  return `/DC=org/DC=grid/CN=${name}`;
}

/** A group with its members. */
function group(
  name: string,
  vo: string | undefined,
  properties: Property[],
  ...members: string[]
): Group {
  const rest = { properties: new Set(properties), members, idpScopes: [] };
  return { name, ...(vo !== undefined && { vo }), ...rest };
}
