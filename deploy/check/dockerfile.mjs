/**
 * Reads a Dockerfile: `{stages: [{image, name, steps: [{word, text}]}], arguments}`. Understands what ours uses
 * (comments, continued lines, ARG before the first FROM); throws for anything else that would need an engine.
 */
export function readDockerfile(text) {
  const stages = [];
  const defaults = {};
  for (const line of logicalLines(text)) {
    const [, word, rest] = /^([A-Z]+)\s+(\S.*)$/.exec(line) ?? [];
    if (word === undefined) throw new Error(`not understood: ${line}`);
    if (word === 'ARG' && stages.length === 0) {
      const [name, value = ''] = rest.split('=');
      defaults[name] = value;
    } else if (word === 'FROM') {
      const [image, as, name] = substituted(rest, defaults).split(/\s+/);
      if (as !== undefined && as.toUpperCase() !== 'AS') throw new Error(`not understood: ${line}`);
      stages.push({ image, name, steps: [] });
    } else if (stages.length === 0) {
      throw new Error(`${word} before the first FROM`);
    } else {
      stages.at(-1).steps.push({ word, text: rest });
    }
  }
  if (stages.length === 0) throw new Error('there is no FROM');
  return { stages };
}

function logicalLines(text) {
  const uncommented = text.split('\n').filter((line) => !/^\s*#/.test(line));
  const joined = uncommented.join('\n').replace(/\\\n\s*/g, ' ');
  return joined
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
}

function substituted(text, values) {
  return text.replace(/\$\{(\w+)\}/g, (_, name) => values[name] ?? '');
}

/** What is wrong with the image's rules: several stages, no root, a health check, no tools, no foreign registry. */
export function faultsOf({ stages }) {
  const faults = [];
  const last = stages.at(-1);
  const of = (word) => last.steps.filter((step) => step.word === word).map((step) => step.text);
  if (stages.length < 2)
    faults.push('there is only one stage: build tools would end up in the image');
  const user = of('USER').at(-1);
  if (user === undefined || /^(root|0)(:|$)/.test(user)) faults.push('the image runs as root');
  if (of('HEALTHCHECK').length === 0) faults.push('the image has no HEALTHCHECK');
  if (of('ENTRYPOINT').length === 0) faults.push('the image has no ENTRYPOINT');
  for (const step of of('RUN')) {
    if (/\b(npm|npx|apt-get|apt|gcc|make|tsc|nest)\b/.test(step)) {
      faults.push(`the final stage builds or installs: ${step}`);
    }
  }
  if (/^node[:@]/.test(last.image)) faults.push('the final stage starts from an image with npm');
  for (const { image } of stages) {
    const [first] = image.split('/');
    if (image.includes('/') && /[.:]/.test(first)) faults.push(`${image} names a registry`);
    if (/:latest$/.test(image) || !/[:@]/.test(image)) faults.push(`${image} has no fixed version`);
  }
  return faults;
}
