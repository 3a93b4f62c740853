import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { faultsOf, readDockerfile } from './dockerfile.mjs';
import { inTemporaryDirectory, root, run } from './place.mjs';
import { checkStart } from './start.mjs';

/** The Dockerfile: its rules; then its COPY and npm steps as an engine would take them, and a start of the result. */
export async function checkImage(report) {
  const file = readDockerfile(await readFile(join(root, 'Dockerfile'), 'utf8'));
  await report.run('Dockerfile: rules', () => {
    const faults = faultsOf(file);
    if (faults.length > 0) throw new Error(faults.join('\n'));
  });
  await inTemporaryDirectory(async (directory) => {
    const context = await contextOf(join(directory, 'context'));
    const places = new Map();
    for (const [number, stage] of file.stages.entries()) {
      const place = join(directory, `stage-${number}`);
      if (stage.name) places.set(stage.name, place);
      const name = stage.name ?? 'image';
      if (
        !(await report.run(`Dockerfile: stage ${name}`, () =>
          build(stage, place, { context, places }),
        ))
      ) {
        return;
      }
    }
    const image = join(directory, `stage-${file.stages.length - 1}`);
    await report.run('Dockerfile: nothing but what the service needs', () => onlyNeeded(image));
    await checkStart(report, file.stages.at(-1), image);
  });
}

/** The build context: the files that .dockerignore lets through (ours lists what is let in). */
async function contextOf(directory) {
  const lines = (await readFile(join(root, '.dockerignore'), 'utf8')).split('\n');
  const wanted = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1).trim());
  const ignored = lines
    .filter((line) => line.startsWith('**/*'))
    .map((line) => line.slice('**/*'.length));
  for (const name of wanted) {
    const filter = (path) => !ignored.some((ending) => path.endsWith(ending.trim()));
    await cp(join(root, name), join(directory, name), { recursive: true, filter });
  }
  return directory;
}

async function build(stage, place, { context, places }) {
  let directory = '/';
  await mkdir(place, { recursive: true });
  for (const { word, text } of stage.steps) {
    if (word === 'WORKDIR') {
      directory = text;
      await mkdir(join(place, directory), { recursive: true });
    } else if (word === 'COPY') {
      await copy(text, { place, directory, context, places });
    } else if (word === 'RUN' && /^npm\b/.test(text)) {
      await run('sh', ['-c', text], { cwd: join(place, directory), env: { NODE_ENV: '' } });
    }
  }
}

async function copy(text, { place, directory, context, places }) {
  const words = text.split(/\s+/);
  const from = words[0].startsWith('--from=') ? words.shift().slice('--from='.length) : undefined;
  const source = from === undefined ? context : places.get(from);
  if (source === undefined) throw new Error(`COPY from an unknown stage: ${from}`);
  const target = words.pop();
  for (const word of words) {
    if (from !== undefined && word === '/usr/local/bin/node') continue; // the machine's own node stands for it
    const path = join(source, word);
    if (!existsSync(path))
      throw new Error(`COPY ${word}: .dockerignore keeps it out, or it does not exist`);
    const end = join(place, target.startsWith('/') ? '' : directory, target);
    const intoDirectory = target.endsWith('/') && !(await stat(path)).isDirectory();
    const destination = intoDirectory ? join(end, basename(word)) : end;
    await mkdir(dirname(destination), { recursive: true });
    await cp(path, destination, { recursive: true, verbatimSymlinks: true });
  }
}

async function onlyNeeded(image) {
  const app = join(image, 'app');
  const unwanted = ['src', 'test', 'tsconfig.json', 'node_modules/esbuild', 'node_modules/jest'];
  const found = unwanted.filter((name) => existsSync(join(app, name)));
  if (found.length > 0) throw new Error(`the image holds ${found.join(', ')}`);
  const specs = (await readdir(join(app, 'dist'), { recursive: true })).filter((name) =>
    /\.spec\.js$/.test(name),
  );
  if (specs.length > 0) throw new Error(`the image holds tests: ${specs.join(', ')}`);
}
