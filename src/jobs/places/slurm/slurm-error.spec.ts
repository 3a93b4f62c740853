import { describe, expect, it } from '@jest/globals';
import { errorOfAnswer } from './slurm-error.js';

describe('errorOfAnswer', () => {
  it.each([
    ['no error', 200, [], undefined],
    ['nothing new', 304, [], undefined],
    ['a 500 that only says that nothing is new', 500, [{ error_number: 1900 }], 'away'],
    ['a controller that is away', 500, [{ error_number: 1800 }], 'away'],
    ['a broken connection', 500, [{ error_number: 5005 }], 'away'],
    ['a bad token on a call', 500, [{ error_number: -1 }], 'away'],
    ['a token that slurmrestd itself refuses', 401, [], 'away'],
    ['an unknown job', 500, [{ error_number: 2017 }], 'unknown-job'],
    ['an ended job', 500, [{ error_number: 2021 }], 'ended'],
    ["another user's job", 500, [{ error_number: 2002 }], 'denied'],
    ['an unknown partition, by the other member name', 500, [{ error_code: 2000 }], 'refused'],
    ['an error although the status says 200', 200, [{ error_code: 2015 }], 'refused'],
    ['busy nodes', 500, [{ error_code: 2016 }], 'away'],
    ['a partition that is down', 500, [{ error_code: 2101 }], 'away'],
    ['a path that is not understood', 400, [], 'refused'],
    [
      'a key that is not understood',
      400,
      [{ description: 'Unknown key' }, { error_code: 9001 }],
      'refused',
    ],
    ['a gateway in between', 502, [], 'away'],
  ])('reads %s', (_name, status, errors, fault) => {
    expect(errorOfAnswer(status, errors)?.fault).toBe(fault);
  });

  it("says it in Slurm's words with the number", () => {
    const error = errorOfAnswer(500, [{ error_number: 2017, description: 'no such job' }]);
    expect(error).toMatchObject({
      message: 'no such job (2017)',
      number: 2017,
      name: 'SlurmError',
    });
  });
});
