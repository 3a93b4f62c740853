import { Problem } from '#src/kernel/index.js';
import { ElementFault, type StorageElements } from '../../file-catalogue/index.js';
import { hasAddress, type AddressedElement, type StorageElement } from '../../registry/index.js';
import { fault, ok, reasonOf, warning, type Finding } from './finding.js';

const CHECK = 'storage elements';
const KNOWS_NOT: Record<AddressedElement['kind'], string> = {
  webdav: 'Let it trust this issuer and its audience: docs/how-to/open-a-storage.md',
  s3: 'The keys in its credentialsFile must read, write and list the bucket',
};

/** Does each element with an address answer, and to whom? Nothing where there is none. */
export async function checkElements(
  storage: Pick<StorageElements, 'opensByLetters'>,
  all: readonly StorageElement[],
): Promise<Finding[]> {
  return Promise.all(all.filter(hasAddress).map((element) => findingOf(storage, element)));
}

async function findingOf(
  storage: Pick<StorageElements, 'opensByLetters'>,
  element: AddressedElement,
): Promise<Finding> {
  const { name, kind, vos, base = '/' } = element;
  const directory = base === '/' ? `/${vos[0] ?? ''}` : base;
  try {
    if (await storage.opensByLetters(element, directory)) {
      const text = `at ${name} a token for one file opens all whose names begin with its name`;
      return warning(CHECK, text, 'Update xrootd to 5.6.9, scitokens-cpp to 1.4.1');
    }
    const what =
      kind === 's3' ? 'takes addresses that the service signs' : 'knows tokens of this service';
    return ok(CHECK, `${name} ${what}, and each opens its own path alone`);
  } catch (error) {
    const isRefused = error instanceof ElementFault && error.kind === 'refused';
    const advice = isRefused ? KNOWS_NOT[kind] : 'Check its url, GRID_STORAGE_CA and the network';
    return fault(CHECK, error instanceof Problem ? error.detail : reasonOf(error), advice);
  }
}
