import { eventually, type Grid } from './testbed.js';

/** Everything that a server writes to standard error from now on. */
export class FullLog {
  private pieces: string[] = [];

  constructor(grid: Grid) {
    grid.server.onLog((piece) => this.pieces.push(piece));
  }

  get text(): string {
    return this.pieces.join('');
  }

  /** The lines written so far. */
  lines(): Record<string, any>[] {
    const whole = this.text.slice(0, this.text.lastIndexOf('\n') + 1);
    return whole
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, any>);
  }

  /** The line of the request with this id, once it is written. */
  async ofRequest(id: unknown): Promise<Record<string, any>> {
    return this.line((line) => line['requestId'] === id && line['msg'] === 'request');
  }

  /** The first line that fits, once it is written. */
  async line(fits: (line: Record<string, any>) => boolean): Promise<Record<string, any>> {
    return eventually(() => Promise.resolve(this.lines().find(fits)), 'a line of the log');
  }
}
