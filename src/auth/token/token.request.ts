import { PickType } from '@nestjs/swagger';
import { Shape, type RequestClass, type RequestShape } from '#src/http/index.js';
import { OAUTH_FORM } from '../protocol/oauth-form.js';
import { AnyGrantForm, GRANT_FORMS, GrantForm } from './grants/grant.request.js';

const FORMS: ReadonlyMap<string, RequestClass> = new Map(
  GRANT_FORMS.map((form) => [form.grantType, form]),
);

/** Each grant type has its own class; a request of none is judged by what all of them carry. */
const BY_GRANT_TYPE: RequestShape = {
  ...OAUTH_FORM,
  choose: (values) => FORMS.get(values.all('grant_type').join()) ?? GrantForm,
};

/** Form of the token endpoint; which members are needed depends on `grant_type`, unknown ones are ignored. */
@Shape(BY_GRANT_TYPE)
export class TokenForm extends AnyGrantForm {}

/** The same in the query string; secrets and what replaces them are no part of the documented ones. */
@Shape(BY_GRANT_TYPE)
export class TokenQuery extends PickType(TokenForm, [
  'grant_type',
  'group',
  'setup',
  'scope',
  'audience',
  'resource',
  'code',
  'redirect_uri',
  'client_id',
  'code_verifier',
  'refresh_token',
]) {}
