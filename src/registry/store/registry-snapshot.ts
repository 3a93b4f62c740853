import { runsJobsOf, type JobOrigin } from '../model/vo-borders.js';
import { certificateKey } from '../model/user-certificate.js';
import {
  DEFAULT_WEIGHT,
  type Client,
  type Drain,
  type Group,
  type Member,
  type RegistryContents,
  type Setup,
  type Site,
  type User,
} from '../model/registry.types.js';
import type { StorageElement } from '../model/storage-element.js';

/** Clocks of instances and database differ by less. */
const CLOCK_SLACK_SECONDS = 60;

/** What a snapshot knows beside its contents. */
export interface SnapshotOptions {
  /** Sites that get no new jobs. */
  drains?: ReadonlyMap<string, Drain>;
  /** When each application was registered, in seconds since 1970. */
  registrations?: ReadonlyMap<string, number>;
  /** When a membership ended last, in whole seconds since 1970. */
  departures?: readonly (Member & { seconds: number })[];
  /** The one virtual organisation that there are tokens for (GRID_ISSUER_VO). */
  issuerVo?: string | undefined;
}

/**
 * The registry at one moment, in memory and immutable: every question is answered without I/O.
 * Unknown names answer undefined or an empty list.
 */
export class RegistrySnapshot {
  private readonly userNames: ReadonlyMap<string, User>;
  private readonly userSubs: ReadonlyMap<string, User>;
  private readonly userCertificates: ReadonlyMap<string, User>;
  private readonly userSubjects: ReadonlyMap<string, User>;
  private readonly groupNames: ReadonlyMap<string, Group>;
  private readonly groupsByUser: ReadonlyMap<string, readonly Group[]>;
  private readonly setupNames: ReadonlyMap<string, Setup>;
  private readonly siteNames: ReadonlyMap<string, Site>;
  private readonly weights: ReadonlyMap<string, number>;
  private readonly elementNames: ReadonlyMap<string, StorageElement>;
  private readonly applicationIds: ReadonlyMap<string, Client>;

  /** Virtual organisations of the groups, each once. */
  readonly vos: readonly string[];

  private readonly drains: ReadonlyMap<string, Drain>;
  private readonly registrations: ReadonlyMap<string, number>;
  private readonly departures: ReadonlyMap<string, number>;
  private readonly lastDepartures = new Map<string, number>();
  private readonly issuerVo: string | undefined;

  /** `version` grows with every change of the registry. */
  constructor(
    readonly contents: RegistryContents,
    readonly version: number,
    {
      drains = new Map(),
      registrations = new Map(),
      departures = [],
      issuerVo,
    }: SnapshotOptions = {},
  ) {
    this.drains = drains;
    this.registrations = registrations;
    this.departures = new Map(departures.map((one) => [memberKey(one), one.seconds]));
    for (const { user, seconds } of departures) {
      this.lastDepartures.set(user, Math.max(seconds, this.lastDepartures.get(user) ?? seconds));
    }
    this.issuerVo = issuerVo;
    this.userNames = byName(contents.users);
    this.userSubs = new Map(
      contents.users.flatMap((user) => (user.sub === undefined ? [] : [[user.sub, user]])),
    );
    this.userCertificates = new Map(
      contents.users.flatMap((u) =>
        u.certificates.map(({ subject, issuer }) => [certificateKey(subject, issuer), u]),
      ),
    );
    this.userSubjects = new Map(
      contents.users.flatMap((u) => u.subjects.map((s) => [subjectKey(s.issuer, s.sub), u])),
    );
    this.groupNames = byName(contents.groups);
    this.vos = [...new Set(contents.groups.flatMap(({ vo }) => vo ?? []))];
    this.groupsByUser = groupsByUser(
      contents.groups.filter((group) => this.isOfIssuer(group)),
      new Set(contents.users.flatMap(({ name, disabled }) => (disabled ? [name] : []))),
    );
    this.setupNames = byName(contents.setups);
    this.siteNames = byName(contents.sites);
    this.weights = new Map(contents.shares.map(({ name, weight }) => [name, weight]));
    this.elementNames = byName(contents.storageElements);
    this.applicationIds = new Map(contents.applications.map((a) => [a.id, a]));
  }

  userByName(name: string): User | undefined {
    return this.userNames.get(name);
  }

  /** The user whom our own tokens call `sub`. */
  userBySub(sub: string): User | undefined {
    return this.userSubs.get(sub);
  }

  /**
   * The user who has the certificate with these canonical DNs; `issuer` is absent when the CA that signed it is not
   * itself a trusted one, and then counts only for entries that name none.
   */
  userByCertificate(subject: string, issuer: string | undefined): User | undefined {
    const bound = issuer && this.userCertificates.get(certificateKey(subject, issuer));
    return bound || this.userCertificates.get(certificateKey(subject));
  }

  /** The user whom an identity provider calls `sub`. */
  userBySubject(issuer: string, sub: string): User | undefined {
    return this.userSubjects.get(subjectKey(issuer, sub));
  }

  group(name: string): Group | undefined {
    return this.groupNames.get(name);
  }

  groups(): readonly Group[] {
    return this.contents.groups;
  }

  /** May there be tokens for the group? Those of another virtual organisation than the one that is set are another issuer's. */
  isOfIssuer({ vo }: Pick<Group, 'vo'>): boolean {
    return this.issuerVo === undefined || vo === undefined || vo === this.issuerVo;
  }

  /** Groups of a user that there may be tokens for, in the order of the registry; none for a disabled one. */
  groupsOf(userName: string): readonly Group[] {
    return this.groupsByUser.get(userName) ?? [];
  }

  /**
   * True when the user is a member of the group, and has been so without a break since `then` (seconds since 1970): what
   * was given before somebody left, was disabled or lost a certificate does not count again afterwards.
   */
  isMember(user: string, group: string, then = Infinity): boolean {
    if (!this.groupsOf(user).some(({ name }) => name === group)) return false;
    return then >= (this.departures.get(memberKey({ user, group })) ?? -Infinity);
  }

  /** Whether a membership of the user has ended after `then` (seconds since 1970). */
  hasLeftSince(user: string, then: number): boolean {
    return then < (this.lastDepartures.get(user) ?? -Infinity);
  }

  setup(name: string): Setup | undefined {
    return this.setupNames.get(name);
  }

  setups(): readonly Setup[] {
    return this.contents.setups;
  }

  /** Setups that the user may use with at least one group. */
  setupsOf(userName: string): readonly Setup[] {
    const groups = this.groupsOf(userName);
    return this.contents.setups.filter((setup) =>
      groups.some((group) => this.mayUseSetup(group.name, setup.name)),
    );
  }

  /** True when both exist and the setup is open to the group. */
  mayUseSetup(groupName: string, setupName: string): boolean {
    const setup = this.setup(setupName);
    if (!setup || !this.group(groupName)) return false;
    return setup.groups === undefined || setup.groups.includes(groupName);
  }

  site(name: string): Site | undefined {
    return this.siteNames.get(name);
  }

  sites(): readonly Site[] {
    return this.contents.sites;
  }

  /** Undefined for a site that gets new jobs. */
  drainOf(siteName: string): Drain | undefined {
    return this.drains.get(siteName);
  }

  /** Sites that run jobs of the setup and the virtual organisation. */
  sitesOf(job: JobOrigin): readonly Site[] {
    return this.contents.sites.filter((site) => runsJobsOf(site, job));
  }

  /** What a group is due beside other groups; 1 when the registry does not say it. */
  weightOf(groupName: string): number {
    return this.weights.get(groupName) ?? DEFAULT_WEIGHT;
  }

  storageElement(name: string): StorageElement | undefined {
    return this.elementNames.get(name);
  }

  storageElements(): readonly StorageElement[] {
    return this.contents.storageElements;
  }

  client(id: string): Client | undefined {
    return this.applicationIds.get(id);
  }

  /**
   * True for an application that is the one that had this client_id then (seconds since 1970): who is registered under the
   * client_id of one that was removed takes nothing over.
   */
  isSameClient(id: string, then: number): boolean {
    if (!this.applicationIds.has(id)) return false;
    return then >= (this.registrations.get(id) ?? -Infinity) - CLOCK_SLACK_SECONDS;
  }

  applications(): readonly Client[] {
    return this.contents.applications;
  }
}

function byName<T extends { name: string }>(items: readonly T[]): ReadonlyMap<string, T> {
  return new Map(items.map((item) => [item.name, item]));
}

function memberKey({ user, group }: Member): string {
  return JSON.stringify([user, group]);
}

function subjectKey(issuer: string, sub: string): string {
  return JSON.stringify([issuer, sub]);
}

function groupsByUser(
  groups: readonly Group[],
  disabled: ReadonlySet<string>,
): ReadonlyMap<string, readonly Group[]> {
  const map = new Map<string, Group[]>();
  for (const group of groups) {
    for (const member of group.members) {
      if (disabled.has(member)) continue;
      const known = map.get(member);
      if (known) known.push(group);
      else map.set(member, [group]);
    }
  }
  return map;
}
