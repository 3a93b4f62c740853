/** Gives specs under Mocha (stryker.config.mjs) what Jest gives them: expect, the tables of `each`, and Jest's names. */
import { expect } from 'expect';
import { bind } from 'jest-each';
import mocha from 'mocha';

const { interfaces } = mocha;
const { bdd } = interfaces;

interfaces.bdd = (suite) => {
  bdd(suite);
  suite.on('pre-require', (context) => {
    // A change that leaves a promise open fails its test; Stryker, who asks for no limit, would need a new process.
    suite.timeout(15_000);
    const { describe, it, before, after } = context;
    describe.each = bind(describe, false);
    it.each = bind(it, false);
    Object.assign(context, { expect, beforeAll: before, afterAll: after });
  });
};
