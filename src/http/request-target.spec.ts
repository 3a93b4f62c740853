import { originForm } from './request-target.js';

describe('the target of a request', () => {
  it.each([
    ['/jobs?maxJobs=1', '/jobs?maxJobs=1'],
    ['//jobs', '//jobs'],
    ['https://grid.example/jobs?maxJobs=1', '/jobs?maxJobs=1'],
    ['HTTP://user@other.example:80/a?b=https://c/d', '/a?b=https://c/d'],
    ['https://grid.example', '/'],
    ['https://grid.example?a=b', '/?a=b'],
    ['/jobs?next=https://grid.example/jobs', '/jobs?next=https://grid.example/jobs'],
    ['*', '*'],
    ['ftp://grid.example/jobs', 'ftp://grid.example/jobs'],
  ])('%s is %s', (target, expected) => {
    expect(originForm(target)).toBe(expected);
  });
});
