import { describe, expect, it } from '@jest/globals';
import { contentPolicy } from './static-site.js';

describe('the content policy of a static site', () => {
  it('allows own files, calls to the service, and frames whose content is in their address', () => {
    expect(contentPolicy(['https://grid.example'])).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; frame-src data:; " +
        "connect-src 'self' https://grid.example; form-action 'none'; base-uri 'none'; " +
        "frame-ancestors 'none'; require-trusted-types-for 'script'",
    );
  });
});
