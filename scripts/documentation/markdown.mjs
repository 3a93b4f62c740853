/** Turns a page of Markdown into HTML, and says what it links to and what can be found in it. */
import hljs from 'highlight.js/lib/common';
import MarkdownIt from 'markdown-it';

/** Names that pages give their blocks and the highlighter does not know. */
const LANGUAGES = { mjs: 'javascript', mts: 'typescript', pycon: 'python-repl', text: undefined };
const COMMENT = /<!--[\s\S]*?-->/g;
const LINE_BREAK = /^<br\s*\/?>$/;

/** An anchor as GitHub makes it, so that links work in both places. */
function slugOf(heading, taken) {
  const plain = heading
    .toLowerCase()
    .trim()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
  const count = taken.get(plain) ?? 0;
  taken.set(plain, count + 1);
  return count === 0 ? plain : `${plain}-${count}`;
}

function highlighted(text, given) {
  const language = given in LANGUAGES ? LANGUAGES[given] : given;
  if (!language || !hljs.getLanguage(language)) return '';
  return hljs.highlight(text, { language, ignoreIllegals: true }).value;
}

const markdown = new MarkdownIt({ html: true, linkify: false, highlight: highlighted });
const escaped = markdown.utils.escapeHtml;

/** Wide parts are scrolled by themselves: also by keyboard. */
markdown.renderer.rules.table_open = () =>
  '<div class="wide" role="group" aria-label="Table" tabindex="0"><table>\n';
markdown.renderer.rules.table_close = () => '</table></div>\n';
markdown.renderer.rules.fence = (tokens, index, options) => {
  const { content, info } = tokens[index];
  const language = info.trim().split(/\s/)[0];
  const inside = options.highlight(content, language) || escaped(content);
  return `<pre tabindex="0" data-language="${escaped(language)}"><code>${inside}</code></pre>\n`;
};
markdown.renderer.rules.code_block = (tokens, index) =>
  `<pre tabindex="0"><code>${escaped(tokens[index].content)}</code></pre>\n`;
const html = (tokens, index) => {
  const text = tokens[index].content.replace(COMMENT, '').trim();
  return LINE_BREAK.test(text) ? '<br />' : escaped(text);
};
markdown.renderer.rules.html_block = html;
markdown.renderer.rules.html_inline = html;

const wordsOf = (token) =>
  (token.children ?? [])
    .filter(({ type }) => ['text', 'code_inline', 'softbreak', 'image'].includes(type))
    .map(({ type, content }) => (type === 'softbreak' ? ' ' : content))
    .join('');

/**
 * A page ready to be shown. `link(address, isImage)` answers the address on the site, or undefined for what is not on
 * it. `parts` are its sections with their text, for the search.
 */
export function rendered(text, link) {
  const tokens = markdown.parse(text, {});
  const taken = new Map();
  const parts = [{ title: '', anchor: '', level: 1, words: [] }];
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      const title = wordsOf(tokens[index + 1]);
      const anchor = slugOf(title, taken);
      token.attrSet('id', anchor);
      parts.push({ title, anchor, level: Number(token.tag.slice(1)), words: [] });
    } else if (token.type === 'inline') {
      parts.at(-1).words.push(wordsOf(token));
      relink(token.children, link);
    } else if (token.type === 'fence') parts.at(-1).words.push(token.content);
  }
  const found = parts.map(({ words, ...part }) => ({ ...part, text: words.join(' ') }));
  return {
    html: markdown.renderer.render(tokens, markdown.options, {}),
    title: parts.find(({ level, title }) => level === 1 && title !== '')?.title ?? '',
    parts: found.filter(({ text: words }) => words.trim() !== ''),
    anchors: new Set(parts.map(({ anchor }) => anchor)),
  };
}

/** Links to what is not on the site become words: they name files of the sources. */
function relink(children, link) {
  const isOpen = [];
  for (const token of children) {
    if (token.type === 'image') token.attrSet('src', link(token.attrGet('src'), true) ?? '');
    else if (token.type === 'link_open') {
      const address = link(token.attrGet('href'), false);
      isOpen.push(address !== undefined);
      if (address !== undefined) token.attrSet('href', address);
      else Object.assign(token, { tag: 'span', attrs: [['class', 'source']] });
    } else if (token.type === 'link_close' && !isOpen.pop()) token.tag = 'span';
  }
}
