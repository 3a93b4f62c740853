import { describe, expect, it } from '@jest/globals';
import { parseIdProvidersFile } from './id-providers-file.js';

describe('parseIdProvidersFile', () => {
  it.each(['007', '1e3', '1.10', 'null', 'true'])('keeps the name %s as it is written', (name) => {
    const entries = parseIdProvidersFile(`${name}: {issuer: 'https://idp.example', client_id: a}`);
    expect(entries.map((entry) => [entry.name, entry.title])).toEqual([[name, name]]);
  });

  it('keeps the order of names that are whole numbers, and has none in an empty file', () => {
    const entry = "{issuer: 'https://idp.example', client_id: a}";
    const entries = parseIdProvidersFile(`b: ${entry}\n2: ${entry}\n1: ${entry}`);
    expect(entries.map(({ name }) => name)).toEqual(['b', '2', '1']);
    expect(parseIdProvidersFile('')).toEqual([]);
  });

  it.each([
    ['a: []', 'line 1: a: must be a map of names'],
    ['a:', 'line 1: a: must be a map of names'],
    ['a b: {issuer: x, client_id: y}', 'line 1: a b: is no name (letters, digits, . _ -)'],
    ['a:\n  issuer: x', 'line 1: a.client_id: is missing'],
    ['a:\n  issuer: 7\n  client_id: y', 'line 2: a.issuer: must be text (put it in quotes)'],
    ['a: {issuer: x, client_id: y, login: "no"}', 'line 1: a.login: must be true or false'],
    [
      'a: {issuer: x, client_id: y, acceptTokens: true}',
      'line 1: a: audience is needed to accept or exchange tokens',
    ],
    [
      'a: {issuer: x, client_id: y, exchangeTokens: true, audience: [y]}',
      'line 1: a: audience must not be the client_id, which is the audience of ID tokens',
    ],
    ['[]', 'file: must be a map of names'],
  ])('refuses %j and names the line', (text, fault) => {
    expect(() => parseIdProvidersFile(text)).toThrow(new Error(`GRID_ID_PROVIDERS: ${fault}`));
  });

  it('names the known keywords beside an unknown one', () => {
    expect(() => parseIdProvidersFile('a:\n  issuer: x\n  client_id: y\n  clientid: z')).toThrow(
      /^GRID_ID_PROVIDERS: line 4: a\.clientid: is not known here; known are title, setup, login, /,
    );
  });
});
