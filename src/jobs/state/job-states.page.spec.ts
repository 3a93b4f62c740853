import { readFileSync } from 'node:fs';
import { renderJobStates } from './job-states.page.js';

describe('the page of job states', () => {
  it('is in docs/ what the tables in the code say: each state, each move, who makes it and why', () => {
    expect(renderJobStates()).toBe(readFileSync('docs/job-states.md', 'utf8'));
  });
});
