import { h } from '../dom.js';

/** Nothing is loaded, nothing runs; colours and sizes may be its own. */
const POLICY = `default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:`;

/**
 * A page that a job has made, in a frame without origin: its whole content is in its address, it may run no script, send no
 * form, open nothing and load nothing.
 */
export function pageFrame(markup: string, name: string): HTMLElement {
  const policy = `<meta http-equiv="Content-Security-Policy" content="${POLICY}">`;
  return h('iframe', {
    ...{ class: 'result', title: `Content of ${name}`, sandbox: '', referrerPolicy: 'no-referrer' },
    src: `data:text/html;charset=utf-8,${encodeURIComponent(`<!doctype html>${policy}${markup}`)}`,
  });
}

/** A PDF in the viewer of the browser, which takes it from its address as well: it has no origin either. */
export async function pdfFrame(content: Blob, name: string): Promise<HTMLElement> {
  const src = await dataUrl(content, 'application/pdf');
  return h('iframe', { class: 'result', title: `Content of ${name}`, src });
}

/** The content as an address, of the type that is said here and not by the job. */
export async function dataUrl(content: Blob, type: string): Promise<string> {
  const typed = new Blob([await content.arrayBuffer()], { type });
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string); // as it is of readAsDataURL
    reader.onerror = () => reject(new Error('the file cannot be read'));
    reader.readAsDataURL(typed);
  });
}
