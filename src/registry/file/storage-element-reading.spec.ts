import { parseRegistryFile, RegistryFileError } from './registry-file.js';
import { writeRegistryFile } from './registry-writing.js';
import { DEMO_REGISTRY } from '../model/demo-registry.js';
import type { StorageElement } from '../model/storage-element.js';

const WEBDAV = { url: 'https://xrd.example.org:1094/vo', kind: 'webdav', vos: ['vo'] };
const NO_DIRECTORY =
  'is neither / nor a directory such as /vo/data, of letters, digits and . _ + @ -';
const S3 = {
  ...WEBDAV,
  url: 'https://s3.example.org/bucket',
  kind: 's3',
  credentialsFile: '/keys',
};

function read(element: unknown): StorageElement | undefined {
  const text = JSON.stringify({ storageElements: { A: element } });
  return parseRegistryFile(text).storageElements?.[0];
}

function faultsOf(element: unknown): string[] {
  try {
    read(element);
    return [];
  } catch (error) {
    if (!(error instanceof RegistryFileError)) throw error;
    const lines = error.message.split('\n');
    return lines.map((line) => line.replace(/^line 1: storageElements\.A\.?/, ''));
  }
}

describe('a storage element in a registry file', () => {
  it.each([
    {},
    { description: 'tape' },
    WEBDAV,
    { ...WEBDAV, url: 'http://localhost:8080/' },
    { ...WEBDAV, description: 'disk', base: '/vo', audience: 'https://xrd' },
    { ...WEBDAV, url: 'https://xrd', base: '/' },
    S3,
  ])('is read and written as %j', (element) => {
    const found = read(element);
    expect(found).toEqual({ name: 'A', ...element });
    const text = writeRegistryFile({ ...DEMO_REGISTRY, storageElements: found ? [found] : [] });
    expect(parseRegistryFile(text).storageElements).toEqual([found]);
  });

  const needs = 'needs the url of the storage';
  it.each<[object, string[]]>([
    [{ url: WEBDAV.url }, ['kind: is missing', 'vos: is missing']],
    [{ kind: 'webdav', vos: ['vo'] }, [`kind: ${needs}`, `vos: ${needs}`]],
    [{ audience: 'x', base: '/vo' }, [`base: ${needs}`, `audience: ${needs}`]],
    [{ credentialsFile: '/k' }, [`credentialsFile: ${needs}`]],
    [{ removes: false }, [`removes: ${needs}`]],
    [{ ...WEBDAV, removes: 'no' }, ['removes: must be true or false']],
    [{ ...WEBDAV, kind: 'srm' }, ['kind: must be one of webdav, s3']],
    [{ ...WEBDAV, vos: [] }, ['vos: names none']],
    [{ ...WEBDAV, credentialsFile: '/k' }, ['credentialsFile: is for S3 only']],
    [
      { ...WEBDAV, secret: 'x' },
      [
        'secret: is not known here; known are description, url, kind, vos, base, audience, credentialsFile, removes',
      ],
    ],
    [{ ...S3, credentialsFile: undefined }, ['credentialsFile: is missing']],
    [{ ...S3, audience: 'x' }, ['audience: is not for S3, where nobody has a token']],
    [{ ...S3, url: 'https://s3.example.org/' }, ['url: names no bucket: give https://host/bucket']],
    [{ ...WEBDAV, url: 'http://xrd.example.org/vo' }, ['url: must be https']],
    ...['vo', '/vo/', '/vo//a', '/vo/../a', '/.', '/a b', ''].map((base): [object, string[]] => [
      { ...WEBDAV, base },
      [base === '' ? 'base: must be text (put it in quotes)' : `base: ${NO_DIRECTORY}`],
    ]),
    ...[
      ...['root://xrd/vo', 'https://u:p@xrd/vo', 'https://xrd/vo?x=1', 'https://xrd/vo#x'],
      ...['https://xrd/v o', 'https://xrd/v%20o', 'https://xrd//vo', 'https://', 'xrd/vo'],
    ].map((url): [object, string[]] => [
      { ...WEBDAV, url },
      ['url: is no https://host:port/path of letters, digits and . _ + @ -'],
    ]),
    ...[
      ['https://XRD.example.org/vo', 'https://xrd.example.org/vo'],
      ['https://xrd:443/vo/', 'https://xrd/vo'],
      ['https://xrd/a/../vo', 'https://xrd/vo'],
    ].map(([url, written]): [object, string[]] => [
      { ...WEBDAV, url },
      [`url: must be written as ${written}`],
    ]),
  ])('is refused as %j', (element, faults) => {
    expect(faultsOf(element)).toEqual(faults);
  });
});
