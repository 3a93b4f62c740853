import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { sleep } from '#src/kernel/index.js';

/** With a broken driver nvidia-smi may hang for good. */
const LIST_MS = 20_000;
/** Device files that every program with a GPU needs, as far as they are there. */
const CONTROLS = ['nvidiactl', 'nvidia-uvm', 'nvidia-uvm-tools', 'nvidia-modeset'];
/** As the driver writes them, in one file for each GPU. */
const DRIVER_FILES = '/proc/driver/nvidia/gpus';

/** A GPU of a machine. */
export interface Gpu {
  /** Path of its device file, by which it is known. */
  device: string;
  /** By which programs call it; undefined where nobody tells. */
  uuid?: string | undefined;
  /** Its number among those of the machine, from 0. */
  index: number;
}

/** Where GPUs are looked for: the directory of device files, that of the driver, and what `nvidia-smi -L` says. */
interface GpuSources {
  devices?: string;
  driver?: string;
  list?: () => Promise<string>;
}

/**
 * The GPUs of this machine: those that `nvidia-smi -L` names, else those that have device files. One without a device file of its own,
 * where others have one, is left out: no job could use it, or two would have the same.
 */
export async function findGpus({
  devices = '/dev',
  driver = DRIVER_FILES,
  list = listed,
}: GpuSources = {}): Promise<Gpu[]> {
  const listed = gpusIn(await list());
  const fileOf = (minor: number): string => join(devices, `nvidia${minor}`);
  if (listed.length === 0) {
    return minorsOfFiles(devices).map((minor, index) => ({ device: fileOf(minor), index }));
  }
  const minors = minorsIn(driver);
  const found = listed.map((gpu) => ({
    ...gpu,
    device: fileOf(minors.get(gpu.uuid) ?? gpu.index),
  }));
  const isOnly = ({ device }: Gpu): boolean =>
    found.filter((other) => other.device === device).length === 1;
  const isThere = found.some(({ device }) => existsSync(device))
    ? ({ device }: Gpu) => existsSync(device)
    : () => true;
  return found.filter((gpu) => isOnly(gpu) && isThere(gpu));
}

/** Number and UUID in lines `GPU 0: <model> (UUID: GPU-…)`; the lines below one are its parts. */
export function gpusIn(list: string): { index: number; uuid: string }[] {
  return list.split('\n').flatMap((line) => {
    const [, index, uuid] = /^GPU (\d{1,4}): .*\(UUID: (GPU-[\w-]{1,80})\)/.exec(line) ?? [];
    return index === undefined || uuid === undefined ? [] : [{ index: Number(index), uuid }];
  });
}

/** What `CUDA_VISIBLE_DEVICES` says to a program; `isAlone`: it sees no other GPU, and so counts its own. */
export function visibleDevices(gpus: readonly Gpu[], isAlone: boolean): string {
  return gpus.map(({ uuid, index }, at) => uuid ?? (isAlone ? at : index)).join(',');
}

/** The device files that a program with these GPUs needs. */
export function deviceFiles(gpus: readonly Gpu[]): string[] {
  const controls = gpus.slice(0, 1).flatMap(({ device }) => {
    return CONTROLS.map((name) => join(dirname(device), name));
  });
  return [...gpus.map(({ device }) => device), ...controls].filter(existsSync);
}

/** Hands GPUs to runs: no two have the same one. What a run has is noted in its directory until nothing of it lives. */
export class GpuPool {
  /** Of runs that are being started, or run. */
  private readonly given = new Set<Gpu>();

  /** `noted` are the device files of those that stand in directories of runs. */
  constructor(
    private readonly gpus: readonly Gpu[],
    private readonly noted: () => Iterable<string>,
  ) {}

  get free(): readonly Gpu[] {
    if (this.gpus.length === 0) return [];
    try {
      const noted = new Set(this.noted());
      return this.gpus.filter((gpu) => !this.given.has(gpu) && !noted.has(gpu.device));
    } catch {
      return []; // a directory that cannot be read may have any
    }
  }

  /** Takes so many; fewer when there are not so many. */
  take(count: number): readonly Gpu[] {
    if (count === 0) return [];
    const taken = this.free.slice(0, count);
    for (const gpu of taken) this.given.add(gpu);
    return taken;
  }

  release(gpus: readonly Gpu[]): void {
    for (const gpu of gpus) this.given.delete(gpu);
  }
}

async function listed(): Promise<string> {
  const said = promisify(execFile)('nvidia-smi', ['-L'], {
    timeout: LIST_MS,
    killSignal: 'SIGKILL',
  })
    .then(({ stdout }) => stdout)
    .catch(() => ''); // there is none, or it has no driver
  return Promise.race([said, sleep(LIST_MS, { unref: true }).then(() => '')]);
}

/** UUID → minor number of the device file. */
function minorsIn(driver: string): Map<string, number> {
  return new Map(
    namesIn(driver).flatMap((name) => {
      const text = textOf(join(driver, name, 'information'));
      const uuid = /^GPU UUID:\s{1,40}(\S+)/m.exec(text)?.[1];
      const minor = /^Device Minor:\s{1,40}(\d+)/m.exec(text)?.[1];
      return uuid === undefined || minor === undefined ? [] : [[uuid, Number(minor)] as const];
    }),
  );
}

function minorsOfFiles(devices: string): number[] {
  const found = namesIn(devices).flatMap((name) => /^nvidia(\d{1,4})$/.exec(name)?.[1] ?? []);
  return found.map(Number).sort((a, b) => a - b);
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
