import { Problem } from '#src/kernel/index.js';

/** 400 for an element that there is not, has no address, or is of another virtual organisation. */
export function unknownElement(se: string): Problem {
  return Problem.invalidField('se', `there is no storage element ${se} with an address for you`);
}
