import type { IAuthModuleOptions } from '@nestjs/passport';
import type { Strategy } from 'passport';

/**
 * The options of an AuthGuard that uses this very strategy. Passport keeps names of strategies for a whole process, where the
 * strategy of the server that started last would answer for all; it takes the strategy itself, too.
 */
export function byStrategy(strategy: Strategy): IAuthModuleOptions {
  return { defaultStrategy: strategy as unknown as string };
}
