import type { Response } from '#src/http-client/index.js';
import { ConfigurationError } from './oauth-error.js';
import { requireFitting } from './required.js';

/** Headers as request hooks see them: a plain object that may be changed or replaced. */
export type HookHeaders = Record<string, string>;
/** What a request hook answers: the request as it is to be sent, or nothing for "unchanged". */
export type HookRequest = [url: string, headers: HookHeaders, body: string];
/** Adjusts a request before client authentication; `body` is the form as text. */
export type ComplianceRequestHook = (
  url: string,
  headers: HookHeaders,
  body: string,
) => HookRequest | undefined | void | Promise<HookRequest | undefined | void>;
/** Adjusts a response before it is parsed; answers it, another one, or nothing for "unchanged". */
export type ComplianceResponseHook = (
  response: Response,
) => Response | undefined | void | Promise<Response | undefined | void>;

const REQUEST_HOOKS = [
  'access_token_request',
  'refresh_token_request',
  'exchange_token_request',
  'device_authorization_request',
  'revoke_token_request',
  'introspect_token_request',
  'protected_request',
] as const;
const RESPONSE_HOOKS = [
  'access_token_response',
  'refresh_token_response',
  'exchange_token_response',
  'revoke_token_response',
  'introspect_token_response',
] as const;

/** Hook types that adjust requests. */
export type RequestHookType = (typeof REQUEST_HOOKS)[number];
/** Hook types that adjust responses. */
export type ResponseHookType = (typeof RESPONSE_HOOKS)[number];
/** The hook types of the interface, and their missing halves. */
export type HookType = RequestHookType | ResponseHookType;

/** Every hook type that register_compliance_hook accepts. */
export const HOOK_TYPES: readonly HookType[] = [...REQUEST_HOOKS, ...RESPONSE_HOOKS];

/** The hooks of one session: they run in the order of their registration, each function once. */
export class ComplianceHooks {
  readonly #hooks = new Map<HookType, (ComplianceRequestHook | ComplianceResponseHook)[]>();

  /** Adds a hook; throws ConfigurationError for an unknown type or a hook that is no function. */
  register(type: HookType, hook: ComplianceRequestHook | ComplianceResponseHook): void {
    const operation = 'register_compliance_hook';
    requireFitting(operation, 'hook_type', type, typeof type === 'string');
    if (!HOOK_TYPES.includes(type)) {
      throw new ConfigurationError(`unknown hook type "${type}"`);
    }
    requireFitting(operation, 'hook', hook, typeof hook === 'function');
    const known = this.#hooks.get(type) ?? [];
    if (!known.includes(hook)) known.push(hook);
    this.#hooks.set(type, known);
  }

  /** Whether any hook of the type is registered; lets the hot path skip the work. */
  has(type: HookType): boolean {
    return this.#hooks.has(type);
  }

  /** Passes a request through the hooks of a type. */
  async request(type: RequestHookType, request: HookRequest): Promise<HookRequest> {
    let current = request;
    for (const hook of (this.#hooks.get(type) ?? []) as ComplianceRequestHook[]) {
      const changed = await hook(current[0], { ...current[1] }, current[2]);
      if (changed === undefined || changed === null) continue;
      if (!Array.isArray(changed) || changed.length !== 3) {
        throw new ConfigurationError(`hook ${type} must answer [url, headers, body] or nothing`);
      }
      current = changed;
    }
    return current;
  }

  /** Passes a response through the hooks of a type. */
  async response(type: ResponseHookType, response: Response): Promise<Response> {
    let current = response;
    for (const hook of (this.#hooks.get(type) ?? []) as ComplianceResponseHook[]) {
      current = (await hook(current)) ?? current;
    }
    return current;
  }
}
