import type { IAuthModuleOptions } from '@nestjs/passport';
import type { Strategy } from 'passport';

/**
 * The options of an AuthGuard that uses this very strategy. Passport keeps names of strategies for a whole process, where the
 * strategy of the server that started last would answer for all; it takes a strategy itself, too, but then writes what belongs to the
 * request into it: so each request gets an object of its own that has the strategy as its prototype.
 */
export function byStrategy(strategy: Strategy): IAuthModuleOptions {
  return {
    get defaultStrategy() {
      return Object.create(strategy) as string;
    },
  };
}
