import type {
  Auth,
  Data,
  Files,
  HooksInput,
  Params,
  RequestContent,
  RequestCookies,
  RequestHeaders,
} from '../message/types.js';

/**
 * A request as the caller means it; `Session.prepare_request` turns it into what goes on the wire.
 * Members left out are null.
 */
export class Request implements RequestContent {
  method: string;
  url: string | URL;
  headers: RequestHeaders | null;
  params: Params | null;
  data: Data | null;
  json: unknown;
  files: Files | null;
  auth: Auth | null;
  cookies: RequestCookies | null;
  hooks: HooksInput | null;

  constructor(method: string, url: string | URL, content: RequestContent = {}) {
    this.method = method;
    this.url = url;
    this.headers = content.headers ?? null;
    this.params = content.params ?? null;
    this.data = content.data ?? null;
    this.json = content.json ?? null;
    this.files = content.files ?? null;
    this.auth = content.auth ?? null;
    this.cookies = content.cookies ?? null;
    this.hooks = content.hooks ?? null;
  }
}
