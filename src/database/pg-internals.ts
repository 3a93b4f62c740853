import type {} from 'pg';

/** Members of the driver that its types leave out. */
declare module 'pg' {
  interface ClientBase {
    /** What the server said of the session at its beginning (BackendKeyData). */
    readonly processID: number;
    /** Settings that are sent with the startup message. */
    getStartupConf(): Record<string, string>;
  }

  interface Connection {
    connect(port: number | string, host?: string): void;
    attachListeners(stream: NodeJS.ReadableStream): void;
  }
}
