/** Why one change of the registry cannot be. */
export type ChangeReason =
  | 'no-user'
  | 'no-group'
  | 'no-site'
  | 'no-member'
  | 'user-exists'
  | 'group-exists'
  | 'site-exists'
  | 'conflict'
  | 'last-administrator';

/** A change of the registry that cannot be. */
export class ChangeFault extends Error {
  constructor(
    readonly reason: ChangeReason,
    message: string,
  ) {
    super(message);
    this.name = 'ChangeFault';
  }
}
