/** A fault that a page of its own tells. */
export class PageError extends Error {
  constructor(
    readonly title: string,
    readonly text: string,
    readonly status: number,
  ) {
    super(text);
    this.name = new.target.name;
  }
}
