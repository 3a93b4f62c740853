import { RemovalQueue } from '../../file-catalogue/index.js';
import { hasAddress, RegistryService } from '../../registry/index.js';
import { group } from '../terminal/command.js';
import { CommandError } from '../terminal/command-error.js';
import { listOf } from '../terminal/output-format.js';
import { say } from '../terminal/output.js';
import { limitOf } from '../terminal/reading.js';
import { onService } from './context.js';

const NONE = { waiting: 0, failing: 0 };

/** `gridgate storage list|removals|give-up`: storage elements, and what is still to be removed there. */
export const storageCommand = group('storage', 'storage elements, and what is removed there', [
  onService('list', 'those with an address, and how many files are still to be removed at each', {
    show: async (service) => {
      const registry = await (await service.get(RegistryService)).current();
      const counts = await (await service.get(RemovalQueue)).counts();
      const addressed = registry.storageElements().filter(hasAddress);
      const known = new Set(addressed.map(({ name }) => name));
      const gone = [...counts.keys()].filter((name) => !known.has(name));
      const elements = [
        ...addressed.map(({ name, kind, url, vos }) => ({ name, kind, url, vos })),
        ...gone.map((name) => ({ name, kind: null, url: null, vos: null })),
      ].map((element) => ({ ...element, ...(counts.get(element.name) ?? NONE) }));
      return listOf({ elements }, elements, {
        ...{ ELEMENT: 'name', KIND: 'kind', URL: 'url', VOS: 'vos' },
        ...{ TO_REMOVE: 'waiting', FAILING: 'failing' },
      });
    },
  }),
  onService('removals', 'what is still to be removed, the next ones first', {
    options: [
      ['--se <name>', 'only at this storage element'],
      ['--failing', 'only what could not be removed'],
      ['--limit <n>', 'at most so many', { parse: limitOf(100_000), default: 1_000 }],
    ],
    show: async (service, { se, failing = false, limit }) => {
      const queue = await service.get(RemovalQueue);
      const registry = await (await service.get(RegistryService)).current();
      const isKnown = se === undefined || registry.storageElement(se) !== undefined;
      if (!isKnown && !(await queue.counts()).has(se))
        throw new CommandError(`There is no storage element ${se}`, 2);
      const removals = await queue.list({ se, isFailing: failing, most: limit });
      return listOf(
        { removals },
        removals,
        { PATH: 'path', ELEMENT: 'se', NEXT: 'next', TRIES: 'tries', FAULT: 'fault' },
        { SINCE: 'since' },
      );
    },
  }),
  onService('give-up', 'leave the bytes of a path where they are; the path is free', {
    args: [
      ['<path>', 'path of the catalogue'],
      ['<element>', 'the storage element where its bytes are'],
    ],
    run: async (service, path, se) => {
      const isDone = await (await service.get(RemovalQueue)).giveUp(path, se);
      if (!isDone) {
        const text = `Nothing is to be removed at ${se} for ${path}, or it is being removed now`;
        throw new CommandError(text, 2);
      }
      say(`the bytes of ${path} stay at ${se}`);
    },
  }),
]);
