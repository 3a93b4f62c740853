import type { GridScope, StorageAction } from '../../protocol/grid-scopes.js';
import type { IdentityScope } from '../../protocol/identity-scopes.js';
import { plainPath } from '../../protocol/scope-path.js';
import type { ADMIN_SCOPE, Scope } from '../../protocol/scopes.js';

/** What each scope allows, for people. */
export const SCOPE_TEXT: Record<Scope | typeof ADMIN_SCOPE | IdentityScope, string> = {
  'jobs:read': 'See your jobs and their output',
  'jobs:submit': 'Submit jobs for you',
  'jobs:kill': 'Kill your jobs',
  'catalogue:read': 'Read the file catalogue',
  'catalogue:write': 'Change the file catalogue for you',
  webhooks: 'Have changes that you may see sent to other services',
  admin: 'Administer the service: its users, groups, applications, signing keys and sites',
  openid: 'Know who you are',
  profile: 'See your name',
  email: 'See your e-mail address',
  offline_access: 'Go on while you are away, until you withdraw it',
};

const SCOPE_WORD: Record<Scope, string> = {
  'jobs:read': 'see jobs',
  'jobs:submit': 'submit jobs',
  'jobs:kill': 'kill jobs',
  'catalogue:read': 'read the catalogue',
  'catalogue:write': 'change the catalogue',
  webhooks: 'send changes elsewhere',
};

const STORAGE_TEXT: Record<StorageAction, [text: string, word: string]> = {
  read: ['Read files in', 'read files'],
  create: ['Add files in', 'add files'],
  modify: ['Change and delete files in', 'change files'],
  stage: ['Have files fetched from tape in', 'fetch files from tape'],
  poll: ['See where files are in', 'see where files are'],
};

/** What a scope allows, in a sentence for people. */
export function scopeText(scope: GridScope): string {
  if (scope.kind === 'right') return SCOPE_TEXT[scope.right];
  if (scope.kind === 'storage') return `${STORAGE_TEXT[scope.action][0]} ${plainPath(scope.path)}`;
  if (scope.kind === 'identity' || scope.kind === 'admin') return SCOPE_TEXT[scope.word];
  if (scope.kind === 'version') return 'Act for you at other services of the grid';
  const { group = 'the group that you choose' } = scope;
  return `Show that you are a member of ${group}`;
}

/** The same in two or three words. */
export function scopeWord(scope: GridScope): string {
  if (scope.kind === 'right') return SCOPE_WORD[scope.right];
  if (scope.kind === 'storage') return STORAGE_TEXT[scope.action][1];
  if (scope.kind === 'identity') return 'know about you';
  if (scope.kind === 'admin') return 'administer the service';
  return scope.kind === 'version' ? 'act elsewhere' : 'show membership';
}
