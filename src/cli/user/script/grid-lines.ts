import { split } from 'shlex';

/** An option as a line or the command line has it. */
export interface WrittenOption {
  /** As it was written: `--time`, `-t`. */
  option: string;
  /** Undefined where nothing follows it. */
  value: string | undefined;
  /** Number of the line, from 1. */
  line: number;
}

/** What a script says of its job. */
export interface GridLines {
  options: WrittenOption[];
  /** What cannot be read, each with its line. */
  faults: string[];
  /** What is not heeded, each with its line. */
  warnings: string[];
}

const MARK = /^#(GRID|SBATCH)(?=\s|$)/;
const OTHER_MARK = /^#(SBATCH|PBS|BSUB|COBALT|FLUX)\b/;
/** What stands before a comment that begins with a word of its own. */
const BEFORE_COMMENT = /^(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|\s(?!#)|[^\s"'\\])*/;

/**
 * Options of the lines `#GRID …` above the first command, or where there are none of the lines `#SBATCH …`, read as sbatch does: words
 * are split as a shell does, and `#` begins a comment. `isFlag` says whether an option takes no value.
 */
export function gridLinesOf(text: string, isFlag: (option: string) => boolean): GridLines {
  const found: GridLines = { options: [], faults: [], warnings: [] };
  const own = /^#GRID(?=\s|$)/m.test(text) ? 'GRID' : 'SBATCH';
  let isHead = true;
  for (const [index, whole] of text.split('\n').entries()) {
    const [line, number] = [whole.replace(/\r$/, ''), index + 1];
    if (isHead && !/^\s*(?:#|$)/.test(line)) isHead = false;
    const isOwn = MARK.exec(line)?.[1] === own;
    if (isOwn && isHead) readLine(line, number, { isFlag, found });
    else if (isOwn) {
      found.warnings.push(`line ${number}: #${own} is read above the first command only`);
    }
    const [, other] = (isHead && !isOwn ? OTHER_MARK.exec(line) : null) ?? [];
    if (other !== undefined && !found.warnings.some((one) => one.includes(`#${other} `))) {
      found.warnings.push(`line ${number}: #${other} lines are not read: write #GRID`);
    }
  }
  return found;
}

function readLine(
  line: string,
  number: number,
  { isFlag, found }: { isFlag: (option: string) => boolean; found: GridLines },
): void {
  const text = line.replace(MARK, '');
  const [read = ''] = BEFORE_COMMENT.exec(text) ?? [];
  let words: string[];
  try {
    words = split(/^\s+#/.test(text.slice(read.length)) ? read : text);
  } catch {
    found.faults.push(`line ${number}: a quote has no end`);
    return;
  }
  while (words.length > 0) {
    const word = words.shift() ?? '';
    const [, long, joined] = /^(--[\w-]+)(?:=(.*))?$/s.exec(word) ?? [];
    const [, short, attached = ''] = /^(-\w)(.*)$/s.exec(word) ?? [];
    const option = long ?? short;
    if (option === undefined) {
      found.faults.push(`line ${number}: ${word} is no option`);
      return;
    }
    const own = long === undefined ? attached || undefined : joined;
    const follows = own === undefined && !isFlag(option) && words[0]?.startsWith('-') === false;
    found.options.push({ option, value: follows ? words.shift() : own, line: number });
  }
}
