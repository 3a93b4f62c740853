import { describe, expect, it } from '@jest/globals';
import { contentPolicy } from './static-site.js';

describe('the content policy of a static site', () => {
  it('allows own files only, and the import map by its hash', () => {
    const page = '<script type="importmap">{"imports":{}}</script><script src="./a.js"></script>';
    expect(contentPolicy(page, ['https://grid.example'])).toBe(
      "default-src 'none'; script-src 'self' 'sha256-URrTy+Il/Nz0lHojVUx275hWqAWhkSF0VsHbUM4/6Hw='; " +
        "style-src 'self'; img-src 'self' data:; connect-src 'self' https://grid.example; " +
        "form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    );
  });

  it('has no hash for a page without one', () => {
    expect(contentPolicy('<script>alert(1)</script>', [])).toContain("script-src 'self';");
  });
});
