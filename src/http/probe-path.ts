/** Who looks whether the process lives is told at once: it is about to be ended otherwise. */
export function isProbe(path: string): boolean {
  return path.startsWith('/health/') || path === '/metrics';
}
