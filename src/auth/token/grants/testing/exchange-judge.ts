import { expect } from '@jest/globals';
import type { AccessTokenClaims, AccessTokenInput } from '../../../bearer/access-token.js';

/**
 * The model: a token opens a set of deeds, each a verb with a place, and nothing of this file's subject is used to say which.
 * A place is a path of the tree below; the model knows no prefix rule but the tree itself.
 */
export const TREE = ['', '/a', '/a/b', '/a/bc', '/ab', '/a/b/c'];
/** True for the top itself and everything below it. */
export const isIn = (place: string, top: string): boolean => {
  for (let at = place; ; at = at.slice(0, at.lastIndexOf('/'))) {
    if (at === top) return true;
    if (at === '') return false;
  }
};
/** What storage scopes let one do. */
export const VERBS: Record<string, string[]> = {
  read: ['read'],
  create: ['create'],
  modify: ['create', 'modify'],
  stage: ['stage', 'poll'],
  poll: ['poll'],
};
/** What scopes of jobs let one do. */
export const JOBS: Record<string, string[]> = {
  'jobs:read': ['see'],
  'compute.read': ['see'],
  'jobs:submit': ['submit'],
  'compute.create': ['submit'],
  'jobs:kill': ['cancel', 'change'],
  'compute.cancel': ['cancel'],
  'compute.modify': ['change'],
};
/** What the properties of the groups allow. */
export const MAY: Record<string, string[]> = {
  grid_user: ['see', 'submit', 'cancel', 'change', 'read', 'stage', 'poll', 'create', 'modify'],
  grid_mon: ['see', 'read', 'stage', 'poll'],
  grid_adm: ['see', 'cancel', 'change', 'read', 'stage', 'poll'],
  files: ['read', 'stage', 'poll', 'create', 'modify'],
};
/** Scopes that name groups. */
export const GROUP_WORDS = [
  '',
  ':/vo/grid_user',
  ':/vo/grid_share',
  ':/vo/grid_adm',
  ':/other/x',
].map((name) => `wlcg.groups${name}`);

function deedsOf(words: readonly string[]): Set<string> {
  return new Set(
    words.flatMap((word) => {
      if (JOBS[word]) return JOBS[word];
      const [, action = '', path = ''] = /^storage\.(\w+):(.*)$/.exec(word) ?? [];
      const top = path === '/' ? '' : path;
      const places = TREE.filter((place) => isIn(place, top));
      return (VERBS[action] ?? []).flatMap((verb) => places.map((place) => `${verb} ${place}`));
    }),
  );
}

/** One exchange of a chain. */
export interface Step {
  scope: string[] | undefined;
  audience: string[] | undefined;
  client: string;
}

/** What a chain begins with: the first token, and what the catalogue keeps shut. */
export interface Chain {
  group: string;
  first: string[];
  groups: string[];
  shut: string[];
}

/** Judges single exchanges by the model. */
export class Judge {
  /** The audiences of an application include those that it needs not be registered with. */
  constructor(
    private readonly chain: Chain,
    private readonly audiencesOf: (client: string) => readonly string[],
  ) {}

  private mayHave(client: string, audience: string): boolean {
    const mine = this.audiencesOf(client);
    return mine.includes('*') || mine.includes(audience);
  }

  private isForbidden(deed: string): boolean {
    const [verb = '', place = ''] = deed.split(' ');
    const right = ['create', 'modify'].includes(verb) ? 'write' : 'read';
    const isShut = deed.includes(' ') && this.chain.shut.includes(`${right} ${place}`);
    return isShut || !MAY[this.chain.group]?.includes(verb);
  }

  /** Words whose deeds are all those of one of the parent's words, open in the catalogue, and the group's. */
  private grantable(parent: readonly string[], asked: readonly string[]): string[] {
    return asked.filter((one) => {
      const wanted = [...deedsOf([one])];
      const isHeld = parent.some((held) => wanted.every((deed) => deedsOf([held]).has(deed)));
      return wanted.length > 0 && isHeld && !wanted.some((deed) => this.isForbidden(deed));
    });
  }

  /** A refusal must have a reason. */
  refusal(error: unknown, claims: Partial<AccessTokenClaims>, step: Step): void {
    const parent = (claims.scope ?? '').split(' ');
    if (error === 'invalid_scope') {
      expect(this.grantable(parent, step.scope ?? parent)).toEqual([]);
      return;
    }
    const mayHave = (one: string): boolean => this.mayHave(step.client, one);
    const parents = [claims.aud].flat() as string[];
    const wanted = step.audience ?? parents.filter(mayHave);
    const isRight =
      wanted.length > 0 && wanted.every((one) => mayHave(one) && parents.includes(one));
    expect([error, isRight]).toEqual(['invalid_target', false]);
  }

  /** A token must be in nothing wider than all bounds, and no narrower either. */
  token(child: AccessTokenInput, claims: Partial<AccessTokenClaims>, step: Step): void {
    const words = (claims.scope ?? '').split(' ');
    const parent = deedsOf(words);
    const asked = step.scope ? deedsOf(step.scope) : parent;
    for (const deed of deedsOf(child.scopes)) {
      const judged = [deed, parent.has(deed), asked.has(deed), this.isForbidden(deed)];
      expect(judged).toEqual([deed, true, true, false]);
    }
    for (const one of this.grantable(words, step.scope ?? words)) {
      expect(child.scopes).toContain(one);
    }
    this.groups(child, claims, step.scope ?? words);
    this.audiences(child.audiences ?? [], claims, step);
  }

  private groups(
    child: AccessTokenInput,
    claims: Partial<AccessTokenClaims>,
    asked: readonly string[],
  ): void {
    const named = child.groups ?? [];
    const own = ['/vo', `/vo/${this.chain.group}`, '/vo/grid_user', '/vo/grid_share'];
    for (const one of named) {
      expect([one, claims['wlcg.groups']?.includes(one), own.includes(one)]).toEqual([
        ...[one, true, true],
      ]);
    }
    const isAsked = asked.some((word) => word.startsWith('wlcg.groups'));
    if (!isAsked) expect(named).toEqual([]);
    for (const word of child.scopes.filter((one) => one.startsWith('wlcg.groups:'))) {
      expect(named).toContain(word.slice('wlcg.groups:'.length));
    }
  }

  private audiences(
    given: readonly string[],
    claims: Partial<AccessTokenClaims>,
    { audience, client }: Step,
  ): void {
    expect(given.length).toBeGreaterThan(0);
    for (const one of given) {
      expect([claims.aud].flat()).toContain(one);
      expect(this.mayHave(client, one)).toBe(true);
      if (audience) expect(audience).toContain(one);
    }
  }
}
