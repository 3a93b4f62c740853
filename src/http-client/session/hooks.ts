import type { Response } from '../message/messages.js';
import type { Hooks, HooksInput, HookSettings, ResponseHook } from '../message/types.js';

/** Hooks with a list under `response`, from one function, a list or nothing. */
export function toHooks(input: HooksInput | null | undefined): Hooks {
  for (const event of Object.keys(input ?? {})) {
    if (event !== 'response') throw new TypeError(`unsupported hook event ${event}`);
  }
  return { response: hookList(input?.response) };
}

/** The request's hooks replace the session's; an empty list means the session's. */
export function mergeHooks(request: HooksInput | null | undefined, session: Hooks): Hooks {
  if (!request) return { response: [...session.response] };
  const own = toHooks(request);
  return own.response.length > 0 ? own : { response: [...session.response] };
}

/** Runs the hooks in order; each sees what the one before it answered. */
export async function runResponseHooks(
  hooks: readonly ResponseHook[],
  response: Response,
  settings: HookSettings,
): Promise<Response> {
  let current = response;
  for (const hook of hooks) current = (await hook(current, settings)) ?? current;
  return current;
}

function hookList(
  input: ResponseHook | readonly ResponseHook[] | null | undefined,
): ResponseHook[] {
  const list = typeof input === 'function' ? [input] : [...(input ?? [])];
  for (const hook of list) {
    if (typeof hook !== 'function') throw new TypeError('a response hook must be a function');
  }
  return list;
}
