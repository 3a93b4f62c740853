/** What an operation throws; undefined when it succeeds. */
export function refusalOf(operation: Promise<unknown>): Promise<unknown> {
  return operation.then(
    () => undefined,
    (error: unknown) => error,
  );
}
