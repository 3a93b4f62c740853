/** Text that is HTML already; everything else is escaped when it is put into a page. */
export class Html {
  constructor(readonly text: string) {}
}

/** What may stand in a template: nothing, plain text (escaped), HTML, or a list of these. */
export type HtmlValue = string | number | Html | undefined | false | readonly HtmlValue[];

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for element content and quoted attributes. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}

/** Template of HTML: every value that is not Html is escaped, so that nothing a caller sends becomes markup. */
export function markup(parts: TemplateStringsArray, ...values: HtmlValue[]): Html {
  const text = parts.map((part, place) => part + render(values[place]));
  return new Html(text.join(''));
}

function render(value: HtmlValue): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(render).join('');
  return escapeHtml(String(value));
}
