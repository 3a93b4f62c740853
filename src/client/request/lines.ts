/** Lines of a streamed answer; empty ones only where they mean something. `heard` is called for whatever arrives. */
export async function* linesOf(
  answer: Response,
  { empty = false, heard }: { empty?: boolean; heard?: () => void } = {},
): AsyncGenerator<string> {
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) return;
  let rest = '';
  try {
    for (;;) {
      const { value, done } = await reader.read();
      heard?.();
      const lines = (rest + (value ?? '')).split('\n');
      rest = done ? '' : (lines.pop() ?? '');
      yield* lines.filter((line) => empty || line !== '');
      if (done) return;
    }
  } finally {
    await reader.cancel();
  }
}
