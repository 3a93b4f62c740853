import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { type AbstractHttpAdapter, HttpAdapterHost } from '@nestjs/core';
import type { RequestHandler } from 'express';
import { Problem } from '#src/kernel/index.js';
import type { HttpRequest, HttpResponse } from './messages.js';

interface RouterLayer {
  route?: { path: string; methods: Record<string, boolean> };
  match(path: string): boolean;
}

/** Which methods a path has: tells a wrong method (405 with Allow) from an unknown path (404). */
@Injectable()
export class RouteTable implements OnApplicationBootstrap {
  private layers: RouterLayer[] = [];
  /** Paths without parameters that a route with parameters matches as well, and the methods they have. */
  private readonly shadowed = new Map<string, Set<string>>();

  constructor(private readonly host: HttpAdapterHost) {}

  /** Reads the routes of the express application, now that all are registered; an application without a server has none. */
  onApplicationBootstrap(): void {
    const adapter = this.host.httpAdapter as AbstractHttpAdapter | null;
    const router = adapter?.getInstance<{ router?: { stack: RouterLayer[] } }>().router;
    this.layers = (router?.stack ?? []).filter((layer) => layer.route !== undefined);
    for (const { path } of this.layers.flatMap(({ route }) => route ?? [])) {
      const matching = this.layers.filter((layer) => matches(layer, path));
      if (/[:*]/.test(path) || matching.every(({ route }) => route?.path === path)) continue;
      const own = matching.filter(({ route }) => route?.path === path);
      this.shadowed.set(comparable(path), methodsOf(own));
    }
  }

  /**
   * Refuses what a path has no method for before a route with parameters takes it: `DELETE /jobs/summary` kills no job
   * of that name.
   */
  guard(
    answer: (problem: Problem, request: HttpRequest, response: HttpResponse) => void,
  ): RequestHandler {
    return (request, response, next) => {
      const methods = this.shadowed.get(comparable(request.path));
      if (methods === undefined || methods.has(request.method)) next();
      else answer(notAllowed(request.method, methods), request, response);
    };
  }

  /** 405 with Allow when another method would do, else 404. */
  problemFor(request: HttpRequest): Problem {
    const path = request.originalUrl.split('?')[0] ?? '/';
    const methods = methodsOf(this.layers.filter((layer) => matches(layer, path)));
    if (methods.size === 0 || methods.has(request.method)) {
      return new Problem('route.not-found', 'There is nothing at this address');
    }
    return notAllowed(request.method, methods);
  }
}

/** Express looks at neither case nor one slash at the end. */
function comparable(path: string): string {
  return (path.endsWith('/') ? path.slice(0, -1) : path).toLowerCase();
}

function methodsOf(layers: readonly RouterLayer[]): Set<string> {
  const names = layers.flatMap(({ route }) => Object.keys(route?.methods ?? {}));
  const methods = new Set(
    names.filter((name) => name !== '_all').map((name) => name.toUpperCase()),
  );
  if (methods.has('GET')) methods.add('HEAD');
  return methods;
}

function notAllowed(method: string, methods: ReadonlySet<string>): Problem {
  return new Problem('route.method-not-allowed', `${method} is not allowed here`, {
    headers: { Allow: [...methods].sort().join(', ') },
  });
}

function matches(layer: RouterLayer, path: string): boolean {
  try {
    return layer.match(path);
  } catch {
    return false; // a path that cannot be decoded
  }
}
