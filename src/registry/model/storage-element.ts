import { isSameOrWithin } from './site-connection.js';

const SAME_PATHS =
  ': the storage compares the paths of tokens, which are those of the catalogue, with its own';
/** What a storage may read as another directory. */
const NO_NAMES = new Set(['', '.', '..']);
const NO_BASE = 'must be / or, for one virtual organisation, its directory or one below';

/** How a storage is spoken to: WebDAV with tokens of this service, or S3 with keys that the service has. */
export const STORAGE_KINDS = ['webdav', 's3'] as const;

/** How a storage is spoken to. */
export type StorageKind = (typeof STORAGE_KINDS)[number];

/** A place that holds replicas of catalogue files. Where it has no address, the catalogue knows its name and nothing else. */
export interface StorageElement {
  readonly name: string;
  readonly description?: string;
  /** Where `base` lies: a file of the catalogue lies at this address and its path below `base`. Present with `kind` and `vos`. */
  readonly url?: string;
  readonly kind?: StorageKind;
  /** The virtual organisations whose files it takes. */
  readonly vos?: readonly string[];
  /** Directory of the catalogue; absent: that of the one of `vos`, or `/` for several. */
  readonly base?: string;
  /** What tokens for it are made out to; absent: scheme, host and port of `url`. */
  readonly audience?: string;
  /** File of the service with the keys for S3. */
  readonly credentialsFile?: string;
  /** False: the service removes nothing there, also of files that it let in and that are deleted. */
  readonly removes?: boolean;
}

/** One that has an address. */
export type AddressedElement = StorageElement &
  Required<Pick<StorageElement, 'url' | 'kind' | 'vos'>>;

export function hasAddress(element: StorageElement): element is AddressedElement {
  return element.url !== undefined;
}

/** True for one that has an address and takes files of the virtual organisation. */
export function takesFilesOf(element: StorageElement, vo: string | undefined): boolean {
  return hasAddress(element) && vo !== undefined && element.vos.includes(vo);
}

/** True for one where the service removes the bytes of files that are deleted. */
export function removesBytes({ removes }: StorageElement): boolean {
  return removes !== false;
}

/** The directory of the catalogue that lies at its `url`. */
function baseOf({ base, vos }: AddressedElement): string {
  const [vo, ...others] = vos;
  return base ?? (vo !== undefined && others.length === 0 ? `/${vo}` : '/');
}

/** What tokens for it are made out to. */
export function audienceOf({ audience, url }: AddressedElement): string {
  return audience ?? new URL(url).origin;
}

/** The address of a path of the catalogue; undefined for one whose files it does not take. */
export function addressOf(element: AddressedElement, path: string): string | undefined {
  const base = baseOf(element);
  const [, vo = ''] = path.split('/');
  if (!element.vos.includes(vo) || path === base || !isWithin(base, path)) return undefined;
  const names = path.slice(base === '/' ? 1 : base.length + 1).split('/');
  if (names.some((name) => NO_NAMES.has(name))) return undefined;
  return `${placeOf(element)}/${names.map(encodeURIComponent).join('/')}`;
}

/** The path of the catalogue that has this address there, however its names are escaped; undefined for every other text. */
export function pathAt(element: AddressedElement, address: string): string | undefined {
  const place = `${placeOf(element)}/`;
  if (!address.startsWith(place) || /[?#\\]/.test(address)) return undefined;
  try {
    const names = address.slice(place.length).split('/').map(decodeURIComponent);
    if (names.some((name) => NO_NAMES.has(name) || /[/\0]/.test(name))) return undefined;
    const base = baseOf(element);
    const path = `${base === '/' ? '' : base}/${names.join('/')}`;
    return addressOf(element, path) === undefined ? undefined : path;
  } catch {
    return undefined; // a % that escapes nothing
  }
}

/** True for a directory whose files may all be files of the element. */
export function holds(element: AddressedElement, directory: string): boolean {
  return directory !== '/' && isWithin(baseOf(element), directory);
}

/** What is wrong with a member of an element. */
export interface AddressFault {
  name: string;
  member: 'base' | 'url';
  problem: string;
}

/** What is wrong with the addresses of elements, each beside those before it. */
export function addressFaults(elements: readonly StorageElement[]): AddressFault[] {
  const taken: { name: string; place: string }[] = [];
  return elements.filter(hasAddress).flatMap((element): AddressFault[] => {
    const { name, kind, vos } = element;
    const base = baseOf(element);
    const place = placeOf(element);
    const [vo = '', ...others] = vos;
    if (base !== '/' && (others.length > 0 || !isWithin(`/${vo}`, base)))
      return [{ name, member: 'base', problem: NO_BASE }];
    if (kind === 'webdav' && base !== '/' && !new URL(place).pathname.endsWith(base)) {
      return [{ name, member: 'url', problem: `must end with ${base}${SAME_PATHS}` }];
    }
    const places = base === '/' ? vos.map((one) => `${place}/${encodeURIComponent(one)}`) : [place];
    const other = taken.find((one) => places.some((own) => isSameOrWithin(one.place, own)));
    taken.push(...places.map((one) => ({ name, place: one })));
    if (other === undefined) return [];
    const problem = `is also that of ${other.name}; files of two elements may not lie in one place`;
    return [{ name, member: 'url', problem }];
  });
}

function placeOf({ url }: AddressedElement): string {
  return url.replace(/\/$/, '');
}

/** True for the directory itself, too. */
function isWithin(directory: string, path: string): boolean {
  return directory === '/' || `${path}/`.startsWith(`${directory}/`);
}
