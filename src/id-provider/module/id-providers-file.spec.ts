import { describe, expect, it } from '@jest/globals';
import { parseIdProvidersFile } from './id-providers-file.js';

describe('parseIdProvidersFile', () => {
  it.each(['007', '1e3', '1.10', 'null', 'true'])('keeps the name %s as it is written', (name) => {
    const entries = parseIdProvidersFile(`${name}: {issuer: 'https://idp.example', client_id: a}`);
    expect(entries.map((entry) => [entry.name, entry.title])).toEqual([[name, name]]);
  });
});
