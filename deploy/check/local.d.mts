/** Where a shipped configuration runs for a test. */
export interface LocalPlace {
  /** Holds tls/ and gets logs and pid file. */
  directory: string;
  port: number;
  /** `host:port` of the two instances. */
  instances: string[];
}
export function localNginx(text: string, place: LocalPlace): string;
export function localHaproxy(text: string, place: LocalPlace): string;
