import { stringify } from 'yaml';
import type { Client, Group, RegistryContents, Site, User } from '../model/registry.types.js';
import { APPLICATION_MEMBERS, SITE_MEMBERS, STORAGE_ELEMENT_MEMBERS } from './registry-schema.js';

/** Writes the registry as YAML; reading it gives the same contents. */
export function writeRegistryFile(contents: RegistryContents): string {
  const named = <T extends { name: string }>(
    items: readonly T[],
    bodyOf: (item: T) => unknown,
  ): object => new Map(items.map((item) => [item.name, bodyOf(item)])); // an object has whole numbers first
  const file = {
    users: named(contents.users, userBody),
    groups: named(contents.groups, groupBody),
    setups: named(contents.setups, ({ groups }) => ({ groups })),
    applications: new Map(
      contents.applications.map((client) => [client.id, applicationBody(client)]),
    ),
    storageElements: named(contents.storageElements, (element) =>
      chosen(element, STORAGE_ELEMENT_MEMBERS),
    ),
    shares: named(contents.shares, ({ weight }) => weight),
    // The last one: pages tell to add sites at the end of what `dump` writes.
    sites: named(contents.sites, siteBody),
  };
  return stringify(file, { aliasDuplicateObjects: false, lineWidth: 0 });
}

/** What the file says of a user. */
export function userBody({ certificates, subjects, ...user }: User): object {
  return {
    sub: user.sub,
    fullName: user.fullName,
    email: user.email,
    certificates: certificates.map((one) => (one.issuer === undefined ? one.subject : one)),
    ...(subjects.length > 0 && { subjects }),
    limits: user.limits,
    disabled: user.disabled,
  };
}

/** What the file says of a group. */
export function groupBody(group: Group): object {
  const { vo, properties, members, idpScopes, idpRole, limits } = group;
  return {
    vo,
    properties: [...properties],
    members,
    ...(idpScopes.length > 0 && { idpScopes }),
    idpRole,
    limits,
  };
}

/** Without its id, which is the key, and without who keeps it. */
function applicationBody(client: Client): object {
  return chosen(client, APPLICATION_MEMBERS);
}

/** What the file says of a site, in one order, whatever order the database has answered. */
export function siteBody(site: Site): object {
  const options = Object.keys(site.options).length > 0 ? site.options : undefined;
  return chosen({ ...site, options }, SITE_MEMBERS);
}

function chosen(item: object, members: readonly string[]): object {
  return Object.fromEntries(
    members.map((member) => [member, (item as Record<string, unknown>)[member]]),
  );
}
