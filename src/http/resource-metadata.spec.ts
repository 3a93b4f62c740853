import { resourceMetadataUrl, withResourceMetadata } from './resource-metadata.js';

const URL = 'https://grid.example.org/.well-known/oauth-protected-resource';

describe('the metadata of a protected resource', () => {
  it.each([
    ['https://grid.example.org', URL],
    ['https://grid.example.org:8443', URL.replace('.org', '.org:8443')],
    ['https://grid.example.org/base', `${URL}/base`],
    ['https://grid.example.org/a/b', `${URL}/a/b`],
  ])('of %s are at %s', (resource, url) => {
    expect(resourceMetadataUrl(resource)).toBe(url);
  });

  it.each([
    ['Bearer realm="x"', `Bearer realm="x", resource_metadata="${URL}"`],
    ['DPoP realm="x", algs="ES256"', `DPoP realm="x", algs="ES256", resource_metadata="${URL}"`],
    ['Basic realm="x"', 'Basic realm="x"'],
  ])('stand in the challenge %s where it asks for a token', (challenge, expected) => {
    expect(withResourceMetadata(challenge, URL)).toBe(expected);
  });
});
