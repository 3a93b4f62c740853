import { SetMetadata } from '@nestjs/common';

/** Metadata key under which a route says who may call it (read by auth's guard). */
export const ACCESS_RULE = 'gridgate:access';

/** Marks a route of the platform itself (health, metrics) as open to everybody, however many requests are at work. */
export const OpenRoute = (): MethodDecorator & ClassDecorator =>
  SetMetadata(ACCESS_RULE, { kind: 'probe' });
