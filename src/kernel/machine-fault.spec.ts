import { MachineFault, machineFaultOf, machineProblem } from './machine-fault.js';

const of = (code: string): Error => Object.assign(new Error(code), { code });

describe('machineFaultOf', () => {
  it.each([
    ['ENOSPC', 'its disk is full'],
    ['EDQUOT', 'its disk quota is used up'],
    ['EROFS', 'its file system is read-only'],
    ['EIO', 'its disk has a fault'],
    ['EMFILE', 'it has too many open files'],
    ['ENFILE', 'it has too many open files'],
    ['EAGAIN', 'it can start no more processes'],
    ['ENOMEM', 'it is out of memory'],
  ])('says of %s: %s', (code, reason) => {
    expect(machineFaultOf(of(code))).toBe(reason);
    expect(machineFaultOf(new Error('it cannot be unpacked', { cause: of(code) }))).toBe(reason);
  });

  it('says what a fault without a code says', () => {
    const fault = new MachineFault('no account is free');
    expect(machineFaultOf(new Error('x', { cause: fault }))).toBe('no account is free');
  });

  it.each([of('ENOENT'), of('EACCES'), of('constructor'), new Error('x'), 'ENOSPC', undefined])(
    'says nothing of %s',
    (error) => {
      expect(machineFaultOf(error)).toBeUndefined();
    },
  );

  it('ends with causes that go round', () => {
    const error = new Error('x');
    error.cause = error;
    expect(machineFaultOf(error)).toBeUndefined();
  });
});

describe('machineProblem', () => {
  it('is 503 with Retry-After for a fault of the machine, and nothing for another error', () => {
    const cause = of('ENOSPC');
    expect(machineProblem(cause)).toMatchObject({
      code: 'service.unavailable',
      detail: 'The service cannot do this now, since its disk is full: send it again later',
      retryAfterSeconds: 10,
      cause,
    });
    expect(machineProblem(of('ENOENT'))).toBeUndefined();
  });
});
