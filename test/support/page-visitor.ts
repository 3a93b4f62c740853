import { createHash, randomBytes } from 'node:crypto';
import type { Answer, GridClient } from './testbed.js';

/** A form as a page without scripts offers it. */
export interface PageForm {
  action: string;
  method: string;
  fields: [string, string][];
}

/** Visits pages like a browser without scripts: keeps cookies, reads forms, follows nothing by itself. */
export class PageVisitor {
  private readonly cookies = new Map<string, string>();

  constructor(private readonly client: GridClient) {}

  async open(path: string, more: Record<string, string> = {}): Promise<Answer<string>> {
    const headers = { ...this.headers(), ...more };
    return this.keep(await this.client.get<string>(path, { headers }));
  }

  /** Sends a form with values in place of the page's own; null leaves a field out. */
  async send(form: PageForm, values: Record<string, string | null> = {}): Promise<Answer<string>> {
    const fields = new Map(form.fields.filter(([name]) => values[name] === undefined));
    for (const [name, value] of Object.entries(values)) if (value !== null) fields.set(name, value);
    const options = { form: [...fields], headers: this.headers() };
    return this.keep(await this.client.post<string>(form.action, options));
  }

  cookie(name: string): string | undefined {
    return this.cookies.get(name);
  }

  setCookie(name: string, value: string): void {
    this.cookies.set(name, value);
  }

  private headers(): Record<string, string> {
    const text = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return { accept: 'text/html,*/*;q=0.8', ...(text !== '' && { cookie: text }) };
  }

  private keep(answer: Answer<string>): Answer<string> {
    const set = answer.headers['set-cookie'];
    for (const line of Array.isArray(set) ? set : set === undefined ? [] : [set]) {
      const [pair = ''] = line.split(';');
      const mark = pair.indexOf('=');
      this.cookies.set(pair.slice(0, mark), pair.slice(mark + 1));
    }
    return answer;
  }
}

/** The forms of a page: hidden and text fields, checked choices; buttons are left out. */
export function formsOf(page: string): PageForm[] {
  return [...page.matchAll(/<form method="(\w+)" action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/g)].map(
    ([, method = '', action = '', body = '']) => ({
      method,
      action: unescaped(action),
      fields: [...body.matchAll(/<input ([^>]*)>/g)].flatMap(([, text = '']) => {
        const name = /name="([^"]*)"/.exec(text)?.[1];
        const value = /value="([^"]*)"/.exec(text)?.[1] ?? '';
        const isChoice = /type="(radio|checkbox)"/.test(text);
        if (name === undefined || (isChoice && !text.includes(' checked'))) return [];
        return [[unescaped(name), unescaped(value)] as [string, string]];
      }),
    }),
  );
}

/** The first form of a page. Throws when there is none. */
export function formOf(page: string): PageForm {
  const [form] = formsOf(page);
  if (!form) throw new Error(`the page has no form:\n${page}`);
  return form;
}

/** Parameters of the redirect of an answer, and where it leads. */
export function redirectOf(answer: Answer): { place: string; parameters: Record<string, string> } {
  const location = String(answer.headers['location']);
  const url = new URL(location);
  return {
    place: location.split('?')[0] ?? '',
    parameters: Object.fromEntries(url.searchParams),
  };
}

/** A PKCE pair (RFC 7636). */
export function pkcePair(): { verifier: string; challenge: string } {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

function unescaped(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}
