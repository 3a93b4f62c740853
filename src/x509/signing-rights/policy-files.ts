import { basename, extname } from 'node:path';
import type { ChainLink } from '../certificate/chain-link.js';
import { nameHashes } from './name-hash.js';
import { readNamespaces } from './namespaces.js';
import { readSigningPolicy } from './signing-policy.js';
import { SELF, UNKNOWN, type PolicyKind, type SigningRule } from './signing-rule.js';

export const POLICY_FILE = /\.(?:signing_policy|namespaces)$/i;
const KINDS: PolicyKind[] = ['signing_policy', 'namespaces'];

/** So many lines that are not understood a refusal names. */
const MOST_TOLD = 3;

/** Of a permission whose CA is not understood. */
const ALSO_BELOW =
  'it may be about any CA below: one without a policy of its own signs nothing unless a line here permits it';

/** One policy file; one with a fault allows nothing. */
export interface PolicyFile {
  path: string;
  kind: PolicyKind;
  rules: SigningRule[];
  fault: string | undefined;
  /** Faults of what it would permit and is left out. */
  leftOut: string[];
}

/** Reads the text of a policy file; what is wrong with it, or why there is no text, is its `fault`. */
export function readPolicyFile(path: string, text: string | undefined, fault?: string): PolicyFile {
  const kind: PolicyKind = /namespaces$/i.test(path) ? 'namespaces' : 'signing_policy';
  const nothing: Omit<PolicyFile, 'fault'> = { path, kind, rules: [], leftOut: [] };
  if (text === undefined) return { ...nothing, fault: fault ?? 'there is no text' };
  try {
    const { rules, leftOut } =
      kind === 'namespaces' ? readNamespaces(text) : readSigningPolicy(text);
    const ofUnknown = new Set(
      rules.filter(({ issuer }) => issuer === UNKNOWN).map((rule) => rule.fault),
    );
    const faults = leftOut.map((one) =>
      ofUnknown.has(one) ? `${one.message}; ${ALSO_BELOW}` : one.message,
    );
    return { path, kind, rules, fault: undefined, leftOut: faults };
  } catch (error) {
    return { ...nothing, fault: (error as Error).message };
  }
}

/**
 * Whom the CAs of a directory in grid layout may sign (docs/design/x509.md). The files of a CA are `<hash>.signing_policy` and
 * `<hash>.namespaces`, where there is none of that name those that are called like the file of its certificate. A CA
 * without a file is bound by what the file of a CA above it says about it, and otherwise by nothing. Both kinds must
 * allow a subject where both are there.
 */
export class SigningRights {
  private readonly byStem = new Map<string, PolicyFile[]>();
  private readonly byCertificate = new Map<string, string[]>();

  /** `certificates` are the files that hold a trusted CA, by its fingerprint. */
  constructor(files: readonly PolicyFile[], certificates: ReadonlyMap<string, string[]>) {
    for (const file of files) {
      for (const stem of new Set([stemOf(file.path), basename(stemOf(file.path)).toLowerCase()])) {
        this.byStem.set(stem, [...(this.byStem.get(stem) ?? []), file]);
      }
    }
    for (const [fingerprint, paths] of certificates) {
      this.byCertificate.set(fingerprint, [...new Set(paths.map(stemOf))]);
    }
  }

  /**
   * Why the first CA of `issuers` may not sign that subject, or undefined; the others are the CAs above it, the next one
   * first.
   */
  faultOf(subject: string, issuers: readonly ChainLink[]): string | undefined {
    for (const kind of KINDS) {
      const fault = this.faultByKind(subject, issuers, kind);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }

  /** Which file of a CA that has files does not name it, or undefined: for the log. Broken files tell that themselves. */
  silenceOf(authority: ChainLink): string | undefined {
    for (const kind of KINDS) {
      const own = this.filesOf(authority, kind);
      const isSilent = own.length > 0 && rulesFor(authority, own, authority).length === 0;
      if (isSilent && own.every(({ fault }) => fault === undefined)) return silent(own);
    }
    return undefined;
  }

  private faultByKind(
    subject: string,
    issuers: readonly ChainLink[],
    kind: PolicyKind,
  ): string | undefined {
    const [issuer] = issuers;
    if (issuer === undefined) return undefined;
    let isBound = false;
    for (const holder of issuers) {
      const files = this.filesOf(holder, kind);
      const broken = holder === issuer ? files.find((file) => file.fault !== undefined) : undefined;
      if (broken !== undefined) return `${broken.path} cannot be understood: ${broken.fault}`;
      if (holder === issuer) isBound = files.length > 0;
      const rules = rulesFor(issuer, files, holder);
      if (rules.length > 0) return verdict(subject, rules, files);
    }
    if (!isBound) return undefined;
    return silent(this.filesOf(issuer, kind));
  }

  private filesOf(authority: ChainLink, kind: PolicyKind): PolicyFile[] {
    if (this.byStem.size === 0) return [];
    const named = (stem: string): PolicyFile[] =>
      (this.byStem.get(stem) ?? []).filter((one) => one.kind === kind);
    const hashed = nameHashes(authority.fields.subject).flatMap(named);
    if (hashed.length > 0) return hashed;
    return (this.byCertificate.get(authority.fingerprint) ?? []).flatMap(named);
  }
}

function stemOf(path: string): string {
  return path.slice(0, path.length - extname(path).length);
}

/** What the files of `holder` say about `issuer`. */
function rulesFor(issuer: ChainLink, files: PolicyFile[], holder: ChainLink): SigningRule[] {
  return files
    .flatMap(({ rules }) => rules)
    .filter((rule) => {
      if (rule.issuer === SELF) return holder === issuer;
      return rule.issuer === issuer.subjectKey || rule.issuer === UNKNOWN;
    });
}

function silent(files: PolicyFile[]): string {
  return `${files.map(({ path }) => path).join(', ')} does not name it`;
}

/**
 * A denial counts more than any permission, wherever it stands. Without a permission the lines that are not understood are
 * named, also where of one only the issuer is not: it may be about this CA.
 */
function verdict(subject: string, rules: SigningRule[], files: PolicyFile[]): string | undefined {
  const fitting = rules.filter(({ fits }) => fits(subject));
  const paths = files.map(({ path }) => path).join(', ');
  if (fitting.some(({ isPermit }) => !isPermit)) return `${paths} denies it`;
  if (fitting.length > 0) return undefined;
  const ofIssuer = new Set(rules);
  const faults = files.flatMap(({ path, rules: all }) =>
    all.flatMap((rule) =>
      rule.fault && ofIssuer.has(rule) ? [`${path}, ${rule.fault.message}`] : [],
    ),
  );
  return [`${paths} does not permit it`, ...faults.slice(0, MOST_TOLD)].join('; not understood: ');
}
