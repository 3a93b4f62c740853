import { Agent, request } from 'undici';
import { freePorts } from './ports.mjs';
import { LoadBalancer, type Balancer, type BalancerInput, type Mode } from './load-balancers.js';
import { GridClient, startGrid, support, type Grid, type StartOptions } from './testbed.js';
import { join } from 'node:path';

/** One instance behind the load balancer: the grid of its process, and its own address. */
export interface Instance {
  grid: Grid;
  direct: string;
}

/** Two instances on one database behind a real load balancer. Calls through `grid` go to the load balancer. */
export class BalancedGrid {
  private constructor(
    private readonly input: BalancerInput,
    private running: LoadBalancer,
    readonly instances: [Instance, Instance],
  ) {}

  static async start(
    balancer: Balancer,
    mode: Mode,
    env: Record<string, string> = {},
    process: Pick<StartOptions, 'ownProcess' | 'node'> = {},
  ): Promise<BalancedGrid> {
    const [port = 0, one = 0, two = 0] = await freePorts(3);
    const scheme = mode === 'terminate' ? 'http' : 'https';
    const common = {
      GRID_PUBLIC_URL: `https://localhost:${port}`,
      ...(mode === 'terminate' ? forwarding(balancer) : {}),
      ...env,
    };
    const grids: Grid[] = [];
    try {
      const first = await startGrid({ ...process, env: { ...common, GRID_PORT: String(one) } });
      grids.push(first);
      const second = await first.second({ GRID_PORT: String(two) });
      grids.push(second);
      const pki = join(first.home, 'pki');
      const instances = [one, two].map((number) => `127.0.0.1:${number}`);
      const input = { root: support().root, balancer, mode, port, instances, pki };
      return new BalancedGrid(input, await LoadBalancer.start(input), [
        { grid: first, direct: `${scheme}://127.0.0.1:${one}` },
        { grid: second, direct: `${scheme}://127.0.0.1:${two}` },
      ]);
    } catch (error) {
      await Promise.all(grids.reverse().map((grid) => grid.remove()));
      throw error;
    }
  }

  /** Calls through the load balancer; lives as long as the second instance. */
  get grid(): Grid {
    return this.instances[1].grid;
  }

  get balancer(): LoadBalancer {
    return this.running;
  }

  /** Ends the load balancer and starts it, or the other one, at the same address. */
  async balanceBy(balancer: Balancer): Promise<void> {
    await this.running.remove();
    this.running = await LoadBalancer.start({ ...this.input, balancer });
  }

  /** Starts the first instance again after its end. */
  async restartFirst(): Promise<void> {
    const [first] = this.instances;
    first.grid = await first.grid.again();
  }

  /** Calls with the token at one instance, past the load balancer; the caller closes them. */
  at({ direct, grid }: Instance, token: string): GridClient {
    return new GridClient(direct, new Agent({ connect: { ca: grid.ca } }), token);
  }

  /** A value of an instance's metrics, 0 when it is not there. Labels are matched as text. */
  async metric(instance: Instance, pattern: RegExp): Promise<number> {
    const { body } = await request(`${instance.direct}/metrics`);
    const values = (await body.text())
      .split('\n')
      .filter((line) => pattern.test(line))
      .map((line) => Number(line.split(' ').at(-1)));
    return values.reduce((sum, value) => sum + value, 0);
  }

  async remove(): Promise<void> {
    await this.balancer.remove();
    await Promise.all(this.instances.map(({ grid }) => grid.remove()));
  }
}

function forwarding(balancer: Balancer): Record<string, string> {
  return {
    GRID_TLS: 'off',
    GRID_TRUSTED_PROXIES: '127.0.0.1',
    GRID_DEVELOPMENT_CA: 'true',
    GRID_CLIENT_CERT_HEADER: balancer === 'nginx' ? 'x-ssl-client-cert' : 'client-cert',
  };
}
