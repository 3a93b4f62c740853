const VARIABLES = ['REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE'];

/**
 * What sessions of the command verify servers with: the CA file of the login, else the machine's. A CA that a person
 * has named wins over bundles of the environment, which sessions of the client component would prefer.
 */
export function chosenCa(ca: string | undefined): string | true {
  if (ca === undefined) return true;
  for (const name of VARIABLES) delete process.env[name];
  return ca;
}
