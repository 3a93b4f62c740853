import { describe, expect, it } from '@jest/globals';
import { scriptFault, scriptStart, shownFirstLine } from './script-head.js';

const ELF = Buffer.from('7f454c4602010100000000000d0a0000', 'hex');
const long = (first: string): Buffer => Buffer.from(first.padEnd(300, 'x'));

describe('scriptStart', () => {
  it.each<[string, string | Buffer, object | undefined]>([
    ['a plain line', '#!/bin/sh\necho', { interpreter: '/bin/sh' }],
    [
      'a blank behind the mark, and blanks at the end',
      '#! \t/bin/sh  \n',
      { interpreter: '/bin/sh' },
    ],
    ['an argument', '#!/bin/sh -e\n', { interpreter: '/bin/sh' }],
    ['no end of line', '#!/bin/sh', { interpreter: '/bin/sh' }],
    ['a carriage return', '#!/bin/bash\r\necho\r\n', { interpreter: '/bin/bash\r' }],
    ['one behind an argument', '#!/bin/bash -e\r\n', { interpreter: '/bin/bash' }],
    ['carriage returns only', '#!/bin/sh\recho\r', { interpreter: '/bin/sh\recho\r' }],
    ['a relative path', '#!bin/tool\n', { interpreter: 'bin/tool' }],
    ['a NUL', '#!/bin/sh\0 x\n', { interpreter: '/bin/sh' }],
    ['env', '#!/usr/bin/env python3\n', { interpreter: '/usr/bin/env', name: 'python3' }],
    ['env and \\r', '#!/usr/bin/env python\r\n', { interpreter: '/usr/bin/env', name: 'python\r' }],
    // Linux gives it as one argument.
    [
      'env with options',
      '#!/bin/env python3 -u\n',
      { interpreter: '/bin/env', name: 'python3 -u' },
    ],
    ['env -S', '#!/usr/bin/env -S python3 -u\n', { interpreter: '/usr/bin/env', name: 'python3' }],
    [
      'env -S and \\r',
      '#!/usr/bin/env -Spython3\r\n',
      { interpreter: '/usr/bin/env', name: 'python3' },
    ],
    ['env -S with a variable', '#!/usr/bin/env -S A=b tool\n', { interpreter: '/usr/bin/env' }],
    ['an option of env', '#!/usr/bin/env -i tool\n', { interpreter: '/usr/bin/env' }],
    ['env alone', '#!/usr/bin/env\n', { interpreter: '/usr/bin/env' }],
    ['no interpreter', '#! \n/bin/sh\n', undefined],
    ['a byte order mark', '\u{feff}#!/bin/sh\r\n', undefined],
    ['no #!', 'echo hello\r\n', undefined],
    ['nothing', '', undefined],
    ['a binary', ELF, undefined],
    ['bytes that are no text', Buffer.from('#!/bin/\xff\n', 'latin1'), undefined],
    ['more than Linux reads', long('#!/bin/'), undefined],
    ['a long argument', long('#!/bin/sh '), { interpreter: '/bin/sh' }],
    ['a name for env that is cut', long('#!/usr/bin/env '), { interpreter: '/usr/bin/env' }],
  ])('reads %s as Linux does', (_what, head, start) => {
    expect(scriptStart(Buffer.from(head as string))).toEqual(start);
  });
});

describe('scriptFault', () => {
  it.each<[string, string | Buffer, string | undefined]>([
    ['ends of lines of Windows', '#!/bin/sh\r\necho\r\n', 'line-ends'],
    ['them without #!', 'echo hello\r\n', 'line-ends'],
    ['ends of lines of old', '#!/bin/sh\recho\r', 'line-ends'],
    ['a byte order mark', '\u{feff}#!/bin/sh\n', 'byte-order-mark'],
    ['it with CRLF', '\u{feff}#!/bin/sh\r\n', 'byte-order-mark'],
    ['UTF-16', Buffer.from('\u{feff}#!/bin/sh\n', 'utf16le'), 'byte-order-mark'],
    ['UTF-16, turned', Buffer.from('\u{feff}#!/bin/sh\n', 'utf16le').swap16(), 'byte-order-mark'],
    ['nothing in a good script', '#!/bin/sh\nprintf "a\r\n"\n', undefined],
    ['nothing in an empty file', '', undefined],
    ['nothing in a binary', ELF, undefined],
  ])('finds %s', (_what, head, fault) => {
    expect(scriptFault(Buffer.from(head as string))).toBe(fault);
  });
});

describe('shownFirstLine', () => {
  it.each<[string | Buffer, string]>([
    ['#!/bin/bash\r\necho', '"#!/bin/bash\\r"'],
    ['\u{feff}#!/bin/sh\t\n', '"\\u{feff}#!/bin/sh\\t"'],
    ['#!\x1b[31m\0\u{202e}é\n', '"#!\\x1b[31m\\x00\\u{202e}é"'],
    ['', '""'],
    [`#!/${'x'.repeat(150)}\n`, `"#!/${'x'.repeat(117)}…"`],
    [`#!${'\r'.repeat(150)}\n`, `"#!${'\\r'.repeat(59)}…"`],
    [Buffer.from(`#!${'ä'.repeat(127)}ää`).subarray(0, 256), `"#!${'ä'.repeat(118)}…"`],
    [Buffer.from('#!\xff\n', 'latin1'), '"#!\u{fffd}"'],
    [Buffer.from('#!/bin/😀').subarray(0, 9), '"#!/bin/"'],
  ])('writes %j for people', (head, shown) => {
    expect(shownFirstLine(Buffer.from(head as string))).toBe(shown);
  });
});
