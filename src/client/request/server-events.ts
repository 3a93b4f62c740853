/** One event of a stream of server-sent events. */
export interface ServerEvent {
  name: string;
  data: string;
  /** By which a stream goes on behind this event. */
  id: string | undefined;
}

/** The events of an answer of type `text/event-stream`, one by one as they come; comments are left out. */
export async function* serverEvents(lines: AsyncIterable<string>): AsyncGenerator<ServerEvent> {
  let fields = new Map<string, string>();
  for await (const line of lines) {
    if (line === '') {
      const data = fields.get('data');
      if (data !== undefined)
        yield { name: fields.get('event') ?? 'message', data, id: fields.get('id') };
      fields = new Map();
      continue;
    }
    const colon = line.indexOf(':');
    const [name, value] = colon < 0 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 1)];
    const known = name === 'data' ? fields.get('data') : undefined;
    const text = value.replace(/^ /, '');
    if (name !== '') fields.set(name, known === undefined ? text : `${known}\n${text}`);
  }
}
