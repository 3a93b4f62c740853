import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import type { Answer } from '../testbed.js';
import type { FuzzCall } from './calls.js';
import type { ApiDocument, DescribedAnswer, Operation, Schema } from './document.js';

/** Checks answers against the document. */
export class AnswerCheck {
  private readonly ajv = new Ajv2020({ strict: false, allErrors: false });
  private readonly validators = new Map<Schema, ValidateFunction>();

  constructor(document: ApiDocument) {
    (ajvFormats as unknown as (ajv: Ajv2020) => void)(this.ajv);
    this.ajv.addSchema({ $id: 'doc', components: { schemas: document.schemas } });
  }

  /** What is wrong with the answer; nothing is when it is empty. */
  faultsOf(operation: Operation, call: FuzzCall, answer: Answer): string[] {
    const faults: string[] = [];
    const { status, headers } = answer;
    if (status >= 500) faults.push(`status ${status}`);
    if (!/^[0-9a-f-]{36}$/.test(String(headers['x-request-id']))) faults.push('no X-Request-Id');
    if (headers['x-injected'] !== undefined) faults.push('a header was injected');
    const described = operation.responses[String(status)];
    if (!described) return [...faults, `status ${status} is not documented`];
    faults.push(...headerFaults(described, status, headers));
    if (call.method === 'HEAD') {
      if (answer.bytes.length > 0) faults.push('a body for HEAD');
    } else faults.push(...this.bodyFaults(described, answer));
    return faults;
  }

  private bodyFaults({ content }: DescribedAnswer, answer: Answer): string[] {
    const { status, headers, bytes } = answer;
    const type = String(headers['content-type'] ?? '').split(';')[0] ?? '';
    if (!content) return bytes.length > 0 ? [`a body of type ${type}, and none is documented`] : [];
    const documented = content[type];
    if (!documented) return [`type ${type || 'none'} of ${status} is not documented`];
    if (!type.endsWith('json') || type === 'application/x-ndjson') return [];
    const body = readBody(answer);
    if (status >= 400) {
      const { status: said, instance } = body as { status?: number; instance?: string };
      const id = `urn:gridgate:request:${String(headers['x-request-id'])}`;
      if (said !== status || instance !== id) return [`the problem says ${said} ${instance}`];
    }
    const validate = this.validator(documented.schema ?? {});
    if (validate(body)) return [];
    const [error] = validate.errors ?? [];
    return [`body${error?.instancePath} ${error?.message}`];
  }

  private validator(schema: Schema): ValidateFunction {
    const known = this.validators.get(schema);
    if (known) return known;
    const made = this.ajv.compile(absolute(schema));
    this.validators.set(schema, made);
    return made;
  }
}

/** What the answer says, also when it came compressed. */
function readBody({ headers, body, bytes }: Answer): unknown {
  const encoding = headers['content-encoding'];
  if (encoding === 'gzip') return JSON.parse(gunzipSync(bytes).toString('utf8'));
  if (encoding === 'br') return JSON.parse(brotliDecompressSync(bytes).toString('utf8'));
  return body;
}

function headerFaults(
  described: DescribedAnswer,
  status: number,
  headers: Answer['headers'],
): string[] {
  const faults: string[] = [];
  for (const [name, header] of Object.entries(described.headers ?? {})) {
    const isRequired = (header as { required?: boolean }).required === true;
    if (isRequired && headers[name.toLowerCase()] === undefined)
      faults.push(`${status} without ${name}`);
  }
  if ((status === 429 || status === 503) && !/^\d+$/.test(String(headers['retry-after']))) {
    faults.push(`${status} without Retry-After`);
  }
  return faults;
}

/** References of the document made absolute for the validator. */
function absolute(schema: Schema): Schema {
  return JSON.parse(
    JSON.stringify(schema).replaceAll('"#/components/', '"doc#/components/'),
  ) as Schema;
}
