import { describe, expect, it } from '@jest/globals';
import { MAX_DEPTH, MAX_VALUES, tooHeavy } from './json-weight.js';

describe('tooHeavy', () => {
  it.each([
    ['lists as deep as allowed', `${'['.repeat(MAX_DEPTH)}${']'.repeat(MAX_DEPTH)}`, undefined],
    ['deeper lists', `${'['.repeat(MAX_DEPTH + 1)}${']'.repeat(MAX_DEPTH + 1)}`, 'depth'],
    ['deeper objects', '{"a":'.repeat(MAX_DEPTH + 1), 'depth'],
    ['lists beside each other', `[${'[],'.repeat(100)}0]`, undefined],
    ['brackets in a text', JSON.stringify('[{'.repeat(1_000)), undefined],
    ['a text after an escaped quote', JSON.stringify(`"${'['.repeat(100)}`), undefined],
    ['a text after a backslash', `["\\\\",${'['.repeat(MAX_DEPTH)}`, 'depth'],
    ['a text that does not end', `"${'[,'.repeat(MAX_VALUES)}`, undefined],
    ['as many values as allowed', `[${'1,'.repeat(MAX_VALUES - 2)}1]`, undefined],
    ['more elements', `[${'1,'.repeat(MAX_VALUES - 1)}1]`, 'values'],
    ['more members', `{${'"a":1,'.repeat(MAX_VALUES)}"a":1}`, 'values'],
    ['many objects without a comma', '{}'.repeat(MAX_VALUES), 'values'],
    ['commas in a text', JSON.stringify(','.repeat(MAX_VALUES)), undefined],
  ])('of %s', (_what, text, expected) => {
    expect(tooHeavy(text)).toBe(expected);
  });
});
