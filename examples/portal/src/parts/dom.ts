/** What an element may hold. */
export type Child = Node | string | number | undefined | null | false | Child[];
type Listener = (event: never) => void;
type Properties = Record<string, string | number | boolean | undefined | Listener>;

/**
 * Makes an element. Properties that start with `on` are listeners, `class` and everything that is no property of the
 * element are attributes; `false` and `undefined` leave an attribute out. Texts become text nodes, never markup.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  apply(element, properties);
  append(element, children);
  return element;
}

/** The same for SVG, where everything is an attribute. */
export function svg(tag: string, properties: Properties = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === 'string' || typeof value === 'number') {
      element.setAttribute(name, String(value));
    }
  }
  append(element, children);
  return element;
}

function apply(element: HTMLElement, properties: Properties): void {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue;
    if (name.startsWith('on') && typeof value === 'function') {
      element.addEventListener(name.slice(2).toLowerCase(), value as unknown as EventListener);
    } else if (name in element && name !== 'list' && !name.includes('-')) {
      (element as unknown as Record<string, unknown>)[name] = value;
    } else {
      element.setAttribute(name, value === true ? '' : String(value));
    }
  }
}

/** They turn the direction of what follows: a name looks like another one. */
const TURNING = /[\u202a-\u202e\u2066-\u2069]/g;

function append(element: Element, children: Child[]): void {
  for (const child of children) {
    if (child === undefined || child === null || child === false) continue;
    if (Array.isArray(child)) append(element, child);
    else element.append(child instanceof Node ? child : String(child).replace(TURNING, '\ufffd'));
  }
}

/** The element of the page with this id. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return element;
}

/** Says something to screen readers without moving the focus. */
export function say(text: string): void {
  byId('said').textContent = text;
}

/** Puts new children into an element only when they differ, so that nothing flickers and the focus stays. */
export function update(element: Element, ...children: Child[]): void {
  const next = document.createElement('div');
  append(next, children);
  if (next.innerHTML === element.innerHTML) return;
  const focused = element.contains(document.activeElement) ? document.activeElement?.id : undefined;
  element.replaceChildren(...next.childNodes);
  if (focused) document.getElementById(focused)?.focus();
}
