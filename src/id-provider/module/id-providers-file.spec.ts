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
});
