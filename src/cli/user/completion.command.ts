import type { Command } from 'commander';
import { command } from '../terminal/command.js';
import { CommandError } from '../terminal/command-error.js';
import { emit } from '../terminal/output.js';

/** `completion bash|zsh|fish`: a script for the shell, made from the commands themselves. */
export function completionCommand(program: Command): Command {
  return command('completion', 'print a completion script: source <(gridgate completion bash)', {
    args: [['<shell>', 'bash, zsh or fish']],
    run: (_, shell) => {
      const make = { bash, zsh, fish }[shell];
      if (!make) throw new CommandError(`no completion for ${shell}`, 2, 'give bash, zsh or fish');
      emit(make(wordsOf(program)));
      return Promise.resolve();
    },
  });
}

/** The words before it (`catalogue meta`, none at the top), and what may follow them. */
type Words = [before: string, words: string[]];

function wordsOf(command: Command, before = ''): [Words, ...Words[]] {
  const { commands, options } = command;
  const flags = options.flatMap(({ long, hidden }) => (hidden ? [] : (long ?? [])));
  return [
    [before, [...commands.map((child) => child.name()), ...flags, '--help']],
    ...commands.flatMap((child) => wordsOf(child, `${before} ${child.name()}`.trim())),
  ];
}

function bash([[, first], ...others]: [Words, ...Words[]]): string {
  const cases = others.map(([name, words]) => `      "${name}") words="${words.join(' ')}" ;;`);
  return [
    '_gridgate() {',
    `  local words="${first.join(' ')}" name="" place`,
    // the longest row of words before the cursor that is a command
    '  for ((place = 1; place < COMP_CWORD; place++)); do',
    '    name="${name:+$name }${COMP_WORDS[place]}"',
    '    case "$name" in',
    ...cases,
    '    esac',
    '  done',
    '  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))',
    '  [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))',
    '}',
    'complete -F _gridgate gridgate',
  ].join('\n');
}

function zsh(commands: [Words, ...Words[]]): string {
  return ['autoload -U +X bashcompinit && bashcompinit', bash(commands)].join('\n');
}

function fish(commands: Words[]): string {
  return commands
    .flatMap(([name, words]) =>
      words.map((word) => {
        const seen = name.split(' ').map((one) => `__fish_seen_subcommand_from ${one}`);
        const when = name === '' ? '__fish_use_subcommand' : seen.join('; and ');
        const flag = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${word}`;
        return `complete -c gridgate -n '${when}' -f ${flag}`;
      }),
    )
    .join('\n');
}
