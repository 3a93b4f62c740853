import { describe, expect, it } from '@jest/globals';
import type { OpenAPIObject } from '@nestjs/swagger';
import { completeOpenApi } from './openapi-completion.js';

const FORM = 'application/x-www-form-urlencoded';

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** What is made of one POST. */
function completed(path: string, operation: object): Record<string, any> {
  const document = {
    paths: { [path]: { post: { operationId: 'change', responses: {}, ...operation } } },
    components: {
      schemas: {
        Sent: { type: 'object', 'x-form-body': true },
        Json: { type: 'object', properties: { list: { type: 'array', items: ref('Inner') } } },
        Inner: { type: 'object', properties: {} },
        Open: { type: 'object', properties: {}, 'x-open-body': true },
      },
      securitySchemes: {},
    },
  } as unknown as OpenAPIObject;
  completeOpenApi(document, {});
  return { ...document, post: document.paths[path]?.post };
}

const bodyOf = (name: string) => ({
  required: true,
  content: { 'application/json': { schema: ref(name) } },
});

describe('what OpenAPI follows from', () => {
  it('takes the comment without its full stop as the summary', () => {
    expect(completed('/things', { summary: 'Change a thing.' }).post.summary).toBe(
      'Change a thing',
    );
    expect(completed('/things', { summary: 'May it?' }).post.summary).toBe('May it?');
  });

  it('knows forms by their class, and tells nobody by what', () => {
    const { post, components } = completed('/things', { requestBody: bodyOf('Sent') });
    expect(Object.keys(post.requestBody.content)).toEqual([FORM]);
    expect(components.schemas.Sent).toEqual({ type: 'object' });
    const json = completed('/things', { requestBody: bodyOf('Json') });
    expect(Object.keys(json.post.requestBody.content)).toEqual(['application/json']);
  });

  it('closes bodies and what is in them, unless their class takes further members', () => {
    const { components } = completed('/things', { requestBody: bodyOf('Json') });
    const { Json, Inner } = components.schemas;
    expect([Json.additionalProperties, Inner.additionalProperties]).toEqual([false, false]);
    const open = completed('/things', { requestBody: bodyOf('Open') });
    expect(open['components'].schemas.Open).toEqual({ type: 'object', properties: {} });
  });

  it('shows refusals below /oauth2 with the error that they have', () => {
    const shown = (path: string, security?: object[]): object => {
      const responses = { '401': { description: 'No' }, '403': { description: 'Not that' } };
      const { post } = completed(path, { responses, security });
      return Object.values(post.responses as Record<string, any>).map(({ content, headers }) => {
        const { error, code } = Object.values<any>(content)[0].example;
        return [error, code, headers?.['WWW-Authenticate']?.description];
      });
    };
    const later = [
      ['temporarily_unavailable', 'rate.limited', undefined],
      ['temporarily_unavailable', 'service.unavailable', undefined],
    ];
    expect(shown('/oauth2/userinfo', [{ bearer: [] }])).toEqual([
      ['invalid_request', 'request.invalid', undefined],
      ['invalid_request', 'auth.token-missing', 'RFC 6750 §3; `resource_metadata`: RFC 9728 §5.1'],
      ['insufficient_scope', 'auth.insufficient-scope', undefined],
      ...later,
    ]);
    expect(shown('/oauth2/token')).toEqual([
      ['invalid_client', 'auth.certificate-required', 'After Basic credentials (RFC 6749 §5.2)'],
      ['access_denied', 'auth.forbidden', undefined],
      ...later,
    ]);
  });
});
