import { Html, markup } from './html.js';
import { cspSource } from './page.js';

describe('markup', () => {
  it('escapes every value that is not HTML', () => {
    const evil = `<script>"'&`;
    expect(markup`<p title="${evil}">${evil}</p>`.text).toBe(
      '<p title="&lt;script&gt;&quot;&#39;&amp;">&lt;script&gt;&quot;&#39;&amp;</p>',
    );
  });

  it('takes lists, numbers, other markup and nothing', () => {
    const items = ['<a>', markup`<b>x</b>`, 3, undefined, false] as const;
    expect(markup`<i>${items}</i>${new Html('<hr>')}`.text).toBe('<i>&lt;a&gt;<b>x</b>3</i><hr>');
  });
});

describe('cspSource', () => {
  it.each([
    ['https://portal.example/callback?a=b', 'https://portal.example'],
    ['http://127.0.0.1:8900/callback', 'http://127.0.0.1:8900'],
    ['org.example.app:/callback', 'org.example.app:'],
  ])('of %s is %s', (uri, source) => {
    expect(cspSource(uri)).toBe(source);
  });
});
