const HIDDEN = '[hidden]';
const JWT = /eyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g;
const PARAMETERS =
  /\b(access_token|refresh_token|id_token|token|code|code_verifier|device_code|user_code|client_secret|client_assertion|subject_token|actor_token|password|state)=[^&\s"\\]+/gi;
const MEMBERS =
  /(\\?"(?:access_token|refresh_token|id_token|code_verifier|device_code|client_secret|client_assertion|subject_token|password|authorization|cookie)\\?"\s*:\s*\\?")[^"\\]+/gi;
const SCHEMES = /\b(Bearer|Basic|DPoP)\s+[A-Za-z0-9._~+/=-]{6,}/gi;
const DATABASE_URL = /(postgres(?:ql)?:\/\/[^:@/\s]+:)[^@\s]+@/gi;

/** Takes tokens, codes and secrets out of a log line, in whatever field or text they stand. */
export function redact(line: string): string {
  return line
    .replace(JWT, HIDDEN)
    .replace(PARAMETERS, `$1=${HIDDEN}`)
    .replace(MEMBERS, `$1${HIDDEN}`)
    .replace(SCHEMES, `$1 ${HIDDEN}`)
    .replace(DATABASE_URL, `$1${HIDDEN}@`);
}
