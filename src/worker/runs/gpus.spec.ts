import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deviceFiles, findGpus, GpuPool, gpusIn, visibleDevices, type Gpu } from './gpus.js';

const FIRST = 'GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77';
const SECOND = 'GPU-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f';
const LIST = `GPU 0: NVIDIA A100-SXM4-40GB (UUID: ${FIRST})
  MIG 1g.5gb      Device  0: (UUID: MIG-0a1b2c3d-42e4-5de3-91c7-45d71c87eb3f)
GPU 1: NVIDIA A100-SXM4-40GB (UUID: ${SECOND})
`;

describe('the list of nvidia-smi', () => {
  it.each<[string, string, { index: number; uuid: string }[]]>([
    [
      'two GPUs, the first one in parts',
      LIST,
      [
        { index: 0, uuid: FIRST },
        { index: 1, uuid: SECOND },
      ],
    ],
    [
      'one beside a broken one',
      `GPU 0: is lost\n${LIST.split('\n')[2]}\n`,
      [{ index: 1, uuid: SECOND }],
    ],
    ['none', 'No devices found.\n', []],
    ['a fault', 'NVIDIA-SMI has failed because it could not communicate with the driver.\n', []],
    ['nothing', '', []],
  ])('of %s', (_, list, uuids) => {
    expect(gpusIn(list)).toEqual(uuids);
  });
});

describe('the GPUs of a machine', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'gridgate-gpus-'));
    for (const name of ['nvidia10', 'nvidia2', 'nvidiactl', 'nvidia-uvm', 'nvram']) {
      writeFileSync(join(root, name), '');
    }
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const found = (list: string, devices = root): Promise<Gpu[]> =>
    findGpus({ devices, driver: join(root, 'driver'), list: () => Promise.resolve(list) });

  it('are those with device files where nvidia-smi tells none, in the order of their numbers', async () => {
    const [two, ten] = [join(root, 'nvidia2'), join(root, 'nvidia10')];
    const gpus = await found('');
    expect(gpus).toEqual([
      { device: two, index: 0 },
      { device: ten, index: 1 },
    ]);
    const controls = [join(root, 'nvidiactl'), join(root, 'nvidia-uvm')];
    expect(deviceFiles(gpus)).toEqual([two, ten, ...controls]);
    expect(deviceFiles(gpus.slice(1))).toEqual([ten, ...controls]);
    expect(deviceFiles([])).toEqual([]);
  });

  it('have the device files that the driver says, else those of their numbers; those without one are none where others have one', async () => {
    const file = (minor: number): string => join(root, `nvidia${minor}`);
    expect(await found(LIST)).toEqual([
      { device: file(0), uuid: FIRST, index: 0 },
      { device: file(1), uuid: SECOND, index: 1 },
    ]);
    writeFileSync(file(1), '');
    expect(await found(LIST)).toEqual([{ device: file(1), uuid: SECOND, index: 1 }]);
    const tell = (name: string, text: string): void => {
      mkdirSync(join(root, 'driver', name), { recursive: true });
      writeFileSync(join(root, 'driver', name, 'information'), text);
    };
    tell('0000:09:00.0', `Model: \t\t A100\nGPU UUID: \t ${FIRST}\nDevice Minor: \t 1\n`);
    expect(await found(LIST)).toEqual([]); // whose is the one file?
    tell('0000:09:00.0', `Model: \t\t A100\nGPU UUID: \t ${FIRST}\nDevice Minor: \t 10\n`);
    tell('0000:0a:00.0', `Model: \t\t A100\nGPU UUID: \t ${SECOND}\nDevice Minor: \t 2\n`);
    const [first, second] = await found(LIST);
    expect([first?.device, second?.device]).toEqual([file(10), file(2)]);
  });

  it('are none where there is nothing of them', async () => {
    expect(await found('', join(root, 'driver'))).toEqual([]);
  });

  it('are called by their UUIDs, else counted: among its own where a program sees no others', () => {
    const gpus = [
      { device: 'a', index: 2 },
      { device: 'b', index: 3 },
    ];
    expect([visibleDevices(gpus, true), visibleDevices(gpus, false)]).toEqual(['0,1', '2,3']);
    expect(visibleDevices([{ device: 'a', uuid: FIRST, index: 0 }], false)).toBe(FIRST);
    expect(visibleDevices([], true)).toBe('');
  });
});

describe('GpuPool', () => {
  const gpus = [0, 1, 2].map((index) => ({ device: `/dev/nvidia${index}`, index }));

  it('gives none twice, nor one that a directory of a run has', () => {
    let noted = ['/dev/nvidia1'];
    const pool = new GpuPool(gpus, () => noted);
    const first = pool.take(1);
    expect([first, pool.take(2)]).toEqual([[gpus[0]], [gpus[2]]]);
    expect(pool.take(1)).toEqual([]);
    pool.release(first);
    expect(pool.free).toEqual([gpus[0]]);
    noted = ['/dev/nvidia0']; // its run is over, and something of it may live
    expect(pool.free).toEqual([gpus[1]]);
  });

  it('has none free while nobody can say which are taken', () => {
    const pool = new GpuPool(gpus, () => {
      throw new Error('EMFILE');
    });
    expect(pool.take(1)).toEqual([]);
  });
});
