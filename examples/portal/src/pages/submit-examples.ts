/** A job to begin with. */
export interface Example {
  title: string;
  name: string;
  executable: string;
  arguments: string;
  /** What to bring back. */
  output?: string;
  files: Record<string, string>;
}

export const EXAMPLES: Example[] = [
  { title: 'Hello', name: 'hello', executable: '/bin/echo', arguments: '"Hello, grid"', files: {} },
  {
    title: 'Count words in two files',
    name: 'count-words',
    executable: 'count.sh',
    arguments: 'poem.txt',
    output: 'lines.txt',
    files: {
      'count.sh': '#!/bin/sh\nset -e\nwc -w "$1"\nsort "$1" | uniq -c > lines.txt\n',
      'poem.txt': 'the quick brown fox\njumps over\nthe lazy dog\n',
    },
  },
  {
    title: 'Draw a picture',
    name: 'spiral',
    executable: 'spiral.sh',
    arguments: '12',
    output: '*.svg',
    files: {
      'spiral.sh': `#!/bin/sh
set -e
awk -v turns="$1" 'BEGIN {
  print "<svg xmlns=\\"http://www.w3.org/2000/svg\\" viewBox=\\"-210 -210 420 420\\">"
  for (i = 0; i < 900; i++) {
    a = i / 900 * turns * 6.2832; r = i / 900 * 200
    printf "<circle cx=\\"%.1f\\" cy=\\"%.1f\\" r=\\"%.1f\\" fill=\\"hsl(%d 80%% 50%%)\\"/>\\n", r * cos(a), r * sin(a), 1 + r / 60, i * 360 / 900
  }
  print "</svg>"
}' > spiral.svg
`,
    },
  },
  {
    title: 'Take a while',
    name: 'steps',
    executable: 'steps.sh',
    arguments: '15',
    files: {
      'steps.sh':
        '#!/bin/sh\ni=1\nwhile [ $i -le "$1" ]; do echo "step $i of $1"; i=$((i+1)); sleep 1; done\n',
    },
  },
];
