import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  DEMO_REGISTRY,
  writeRegistryFile,
  type Group,
  type Property,
} from '#src/registry/index.js';

/** The demo registry, and beside its virtual organisation `vo` another one with people in office. */
export async function writeRegistry(directory: string): Promise<string> {
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
  ];
  await writeFile(path, writeRegistryFile({ ...DEMO_REGISTRY, groups }));
  return path;
}

function group(
  name: string,
  vo: string | undefined,
  properties: Property[],
  ...members: string[]
): Group {
  const rest = { properties: new Set(properties), members, idpScopes: [] };
  return { name, ...(vo !== undefined && { vo }), ...rest };
}
