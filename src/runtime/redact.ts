const HIDDEN = '[hidden]';
/** A run of what a JWT is made of, looked at once: a search for the JWT itself would begin anew at each `eyJ`. */
const DOTTED_RUN = /(?<![\w.-])[\w.-]{12,}/g;
const JWT_START = 'eyJ';
const PARAMETERS =
  /\b(access_token|refresh_token|id_token|token|code|code_verifier|device_code|user_code|client_secret|client_assertion|subject_token|actor_token|password|state)=[^&\s"\\]+/gi;
const MEMBERS =
  /(\\?"(?:access_token|refresh_token|id_token|code_verifier|device_code|client_secret|client_assertion|subject_token|password|authorization|cookie)\\?"\s*:\s*\\?")[^"\\]+/gi;
const SCHEMES = /\b(Bearer|Basic|DPoP)\s+[A-Za-z0-9._~+/=-]{6,}/gi;
/** Within one text of JSON: what follows in the line is not a part of the password. */
const DATABASE_URL = /(postgres(?:ql)?:\/\/[^:@/\s"\\]+:)(?:(?!postgres)(?:\\[^\s]|[^@\s"\\]))+@/gi;
/** What a line of the audit trail has; within a text its quotes would be escaped. */
const TRAIL = '"channel":"audit"';

/**
 * Takes tokens, codes and secrets out of a log line, in whatever field or text they stand; linear in its length. Nearly all
 * lines have nothing of what most patterns begin with, which is found out in a twentieth of the time of the pattern.
 *
 * Lines of the audit trail stay as they are: their fields are a closed list without any secret, and whatever a name that users
 * choose looks like, the trail has to tell what was done with it.
 */
export function redact(line: string): string {
  if (line.includes(TRAIL)) return line;
  let text = line;
  if (text.includes(JWT_START)) text = text.replace(DOTTED_RUN, withoutJwt);
  if (text.includes('=')) text = text.replace(PARAMETERS, `$1=${HIDDEN}`);
  text = text.replace(MEMBERS, `$1${HIDDEN}`).replace(SCHEMES, `$1 ${HIDDEN}`);
  return text.includes('://') ? text.replace(DATABASE_URL, `$1${HIDDEN}@`) : text;
}

/** Hides a run from its first JWT on: `eyJ`, eight more characters, and two more parts behind dots. */
function withoutJwt(run: string): string {
  const parts = run.split('.');
  let at = 0;
  for (const [index, part] of parts.entries()) {
    const start = part.indexOf(JWT_START);
    const isLong = start >= 0 && part.length - start >= 11;
    if (isLong && parts[index + 1] && parts[index + 2] !== undefined) {
      return `${run.slice(0, at + start)}${HIDDEN}`;
    }
    at += part.length + 1;
  }
  return run;
}
