/** An answer whose JSON text is there already; `T` says what it reads as. */
export class JsonText<T> {
  declare private readonly readsAs: T;

  constructor(readonly text: string) {}
}
