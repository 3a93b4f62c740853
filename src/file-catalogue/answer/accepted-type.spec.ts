import { describe, expect, it } from '@jest/globals';
import { acceptedType } from './accepted-type.js';

const OFFERS = ['application/json', 'application/x-ndjson'];

describe('the Accept header', () => {
  it.each([
    [undefined, 'application/json'],
    ['', 'application/json'],
    ['*/*', 'application/json'],
    ['application/*', 'application/json'],
    ['application/json', 'application/json'],
    ['application/x-ndjson', 'application/x-ndjson'],
    ['Application/X-NDJSON; charset=utf-8', 'application/x-ndjson'],
    ['application/x-ndjson, */*', 'application/x-ndjson'],
    ['application/json;q=0.5, application/x-ndjson', 'application/x-ndjson'],
    ['text/html', 'application/json'],
    ['application/json;q=0, text/*', 'application/json'],
    ['text/html, application/json;q=0.9, application/x-ndjson;q=0.1', 'application/json'],
  ])('%s chooses %s', (header, chosen) => {
    expect(acceptedType(header, OFFERS)).toBe(chosen);
  });
});
