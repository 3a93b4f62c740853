import { Problem } from '#src/kernel/index.js';
import type { HttpRequest } from './messages.js';

interface RouterLayer {
  route?: { path: string; methods: Record<string, boolean> };
  match(path: string): boolean;
}

/** Which methods a path has: tells a wrong method (405 with Allow) from an unknown path (404). */
export class RouteTable {
  private layers: RouterLayer[] = [];

  /** Reads the routes of the express application, once all are registered. */
  read(application: { router?: { stack: RouterLayer[] } }): void {
    this.layers = (application.router?.stack ?? []).filter((layer) => layer.route !== undefined);
  }

  /** 405 with Allow when another method would do, else 404. */
  problemFor(request: HttpRequest): Problem {
    const path = request.originalUrl.split('?')[0] ?? '/';
    const methods = new Set<string>();
    for (const layer of this.layers) {
      if (!matches(layer, path)) continue;
      for (const method of Object.keys(layer.route?.methods ?? {})) {
        if (method !== '_all') methods.add(method.toUpperCase());
      }
    }
    if (methods.has('GET')) methods.add('HEAD');
    if (methods.size === 0 || methods.has(request.method)) {
      return new Problem('route.not-found', 'There is nothing at this address');
    }
    const allow = [...methods].sort().join(', ');
    return new Problem('route.method-not-allowed', `${request.method} is not allowed here`, {
      headers: { Allow: allow },
    });
  }
}

function matches(layer: RouterLayer, path: string): boolean {
  try {
    return layer.match(path);
  } catch {
    return false; // a path that cannot be decoded
  }
}
