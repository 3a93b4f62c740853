import { demandedPaths, outputPlaces, storedNames } from './stored-outputs.js';

const order = (manifest: object) => ({
  jid: 7n,
  manifest: { VirtualOrganization: 'vo', Owner: 'alice', ...manifest },
});
const HOME = '/vo/user/a/alice/000000000007';

describe('where files of a job are stored', () => {
  it('follows from their names, patterns and paths', () => {
    const placeOf = outputPlaces(
      order({
        OutputData: [
          { name: '*.root' },
          { name: 'a.root', path: '/vo/x/', se: 'SE-B' },
          { name: './d/*', path: 'deep/' },
          { name: 'log', path: 'logs/every' },
        ],
        OutputSE: ['SE-A', ''],
      }),
    );
    const ses = ['SE-A'];
    expect(placeOf('b.root')).toEqual({ path: `${HOME}/b.root`, ses });
    // A name goes before a pattern.
    expect(placeOf('a.root')).toEqual({ path: '/vo/x/a.root', ses: ['SE-B'] });
    expect(placeOf('d/1')).toEqual({ path: `${HOME}/deep/1`, ses });
    expect(placeOf('log')).toEqual({ path: `${HOME}/logs/every`, ses });
    for (const name of ['other', 'd/e/1', 'd/.', 'd/..', '', '.root', 'd/'])
      expect([name, placeOf(name)]).toEqual([name, undefined]);
  });

  it('is below OutputPath, and nowhere without a virtual organisation', () => {
    const OutputData = [{ name: 'f' }];
    expect(outputPlaces(order({ OutputData, OutputPath: '/vo/x/' }))('f')).toEqual({
      path: '/vo/x/f',
    });
    const { jid, manifest } = order({ OutputData });
    const nobody = { jid, manifest: { ...manifest, VirtualOrganization: undefined as never } };
    expect(outputPlaces(nobody)('f')).toBeUndefined();
  });

  it('is demanded of those that are named', () => {
    const OutputData = [{ name: './f' }, { name: '*.x' }];
    expect(demandedPaths(order({ OutputData }))).toEqual([`${HOME}/f`]);
    expect(storedNames(order({ OutputData }))).toEqual(['f', '*.x']);
    expect(storedNames(order({ OutputData: ['kept', 'as text'] }))).toEqual([]);
  });
});
