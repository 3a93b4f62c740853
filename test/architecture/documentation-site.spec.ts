import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from '@jest/globals';

interface Site {
  pages: {
    source: string;
    address: string;
    html: string;
    title: string;
    parts: { title: string; anchor: string; text: string }[];
  }[];
  assets: Set<string>;
  faults: string[];
}
type SiteOf = (sources: Map<string, string>, exists: (path: string) => boolean) => Site;

const { siteOf } = (await import(
  pathToFileURL(join(process.cwd(), 'scripts/documentation/site.mjs')).href
)) as { siteOf: SiteOf };

const PAGE = 'docs/tokens.md';
const OTHER = 'docs/how-to/deploy.md';
const FILES = new Set(['src/main.ts', 'docs/openapi.json', 'docs/pictures/job.png', 'icon.png']);

/** A site of two pages, one of them with this text. */
function siteWith(text: string): Site {
  const sources = new Map([
    [PAGE, `# Tokens\n\n${text}\n`],
    [
      OTHER,
      '# Deploy\n\n## Two `instances`, or more\n\nOf the service.\n\n## Two instances or more\n',
    ],
  ]);
  return siteOf(sources, (path) => FILES.has(path));
}
const faultsOf = ({ faults }: Site): string[] =>
  faults.filter((text) => !text.endsWith(' is missing'));
const htmlOf = ({ pages }: Site): string =>
  (pages[0]?.html ?? '').replace('<h1 id="tokens">Tokens</h1>\n', '').trim();

describe('the site of documentation', () => {
  it.each([
    ['[a](how-to/deploy.md)', '<p><a href="how-to/deploy.html">a</a></p>'],
    [
      '[a](how-to/deploy.md#two-instances-or-more)',
      '<p><a href="how-to/deploy.html#two-instances-or-more">a</a></p>',
    ],
    [
      '[a](how-to/deploy.md#two-instances-or-more-1)',
      '<p><a href="how-to/deploy.html#two-instances-or-more-1">a</a></p>',
    ],
    ['[a](#tokens)', '<p><a href="tokens.html#tokens">a</a></p>'],
    ['[a](https://example.org/b)', '<p><a href="https://example.org/b">a</a></p>'],
    ['[a](../src/main.ts)', '<p><span class="source">a</span></p>'],
    ['[a](openapi.json)', '<p><a href="openapi.json">a</a></p>'],
    ['![a](pictures/job.png)', '<p><img src="pictures/job.png" alt="a"></p>'],
    [
      'a <!-- run: demo --> <script>b</script><br />',
      '<p>a  &lt;script&gt;b&lt;/script&gt;<br /></p>',
    ],
  ])('shows %s as %s', (text, html) => {
    const site = siteWith(text);
    expect({ html: htmlOf(site), faults: faultsOf(site) }).toEqual({ html, faults: [] });
  });

  it.each([
    ['[a](how-to/nowhere.md)', 'how-to/nowhere.md leads nowhere'],
    ['[a](../src/nothing.ts)', '../src/nothing.ts leads nowhere'],
    ['[a](how-to/deploy.md#three)', 'how-to/deploy.md#three names a heading that is not there'],
    ['[a](#three)', '#three names a heading that is not there'],
    [
      '![a](https://example.org/b.png)',
      'the picture https://example.org/b.png is of another server',
    ],
    ['![a](../icon.png)', 'the picture ../icon.png is not in docs/pictures'],
    ['![a](pictures/none.png)', 'pictures/none.png leads nowhere'],
  ])('refuses %s', (text, fault) => {
    expect(faultsOf(siteWith(text))).toEqual([`${PAGE}: ${fault}`]);
  });

  it('refuses pages that nobody finds, pages without heading, and entries of the menu without page', () => {
    const { faults } = siteOf(
      new Map([
        ['docs/forgotten.md', '# Forgotten'],
        [PAGE, 'no heading'],
      ]),
      () => false,
    );
    expect(faults).toContain(
      'docs/forgotten.md is in no section of scripts/documentation/contents.mjs',
    );
    expect(faults).toContain(`${PAGE} has no heading`);
    expect(faults).toContain(`${OTHER} is missing`);
  });

  it('takes along what pages show, and knows the text of each section', () => {
    const { assets, pages } = siteWith(
      '![a](pictures/job.png) [b](openapi.json)\n\n## More\n\n`c` d',
    );
    expect([...assets]).toEqual(['docs/pictures/job.png', 'docs/openapi.json']);
    expect(pages[0]?.parts).toMatchObject([
      { title: 'Tokens', anchor: 'tokens', text: 'Tokens a b' },
      { title: 'More', anchor: 'more', text: 'More c d' },
    ]);
  });
});
