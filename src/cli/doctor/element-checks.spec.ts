import { addressOf, type AddressedElement } from '../../registry/index.js';
import { checkElements } from './element-checks.js';

describe('the storage elements that doctor asks', () => {
  const webdav = { name: 'SE-A', url: 'https://a.example.org/vo', kind: 'webdav' } as const;

  it.each([
    { vos: ['vo'] },
    { vos: ['vo'], base: '/vo/data' },
    { vos: ['vo'], base: '/' },
    { vos: ['vo', 'else'] },
  ])('are asked for a path that lies there: %j', async (more) => {
    const asked: string[] = [];
    const opensByLetters = (element: AddressedElement, directory: string): Promise<boolean> => {
      asked.push(addressOf(element, `${directory}/x`) ?? 'nowhere');
      return Promise.resolve(false);
    };
    const findings = await checkElements({ opensByLetters }, [{ ...webdav, ...more }]);
    expect(findings).toMatchObject([{ state: 'ok' }]);
    expect(asked).toEqual([expect.stringMatching(/^https:/)]);
  });
});
