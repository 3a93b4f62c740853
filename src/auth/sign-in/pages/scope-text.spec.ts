import { readScope } from '../../protocol/grid-scopes.js';
import { scopeText, scopeWord } from './scope-text.js';

describe('a scope in words', () => {
  it.each([
    ['jobs:kill', 'Kill your jobs', 'kill jobs'],
    ['compute.cancel', 'Kill your jobs', 'kill jobs'],
    ['storage.read:/vo/a%20b', 'Read files in /vo/a b', 'read files'],
    ['storage.create:/vo', 'Add files in /vo', 'add files'],
    ['storage.modify:/vo/', 'Change and delete files in /vo', 'change files'],
    ['storage.stage:/vo', 'Have files fetched from tape in /vo', 'fetch files from tape'],
    ['storage.poll:/vo', 'See where files are in /vo', 'see where files are'],
    [
      'admin',
      'Administer the service: its users, groups, applications, signing keys and sites',
      'administer the service',
    ],
    ['wlcg', 'Act for you at other services of the grid', 'act elsewhere'],
    ['wlcg.groups', 'Show that you are a member of the group that you choose', 'show membership'],
    ['wlcg.groups:/vo/x', 'Show that you are a member of /vo/x', 'show membership'],
  ])('%s: %s', (word, text, short) => {
    const scope = readScope(word)!;
    expect([scopeText(scope), scopeWord(scope)]).toEqual([text, short]);
  });
});
