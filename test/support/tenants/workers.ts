import type { Outcome } from './outcome.js';
import type { Call } from './place.js';

const NO_PROOF = '401 auth.token-invalid';
const claim = { seq: 1, most: 1, holding: [], free: { processors: 1, ramMB: 1 }, wait: 1 };
const registration = { site: 'DESK.example', secret: 'x', protocol: 1, name: 'x', version: '1' };

/** What a route of workers answers to everybody but its worker. */
export interface WorkerExpectation {
  /** What opens it. */
  opens: string;
  call: (id: string) => Call;
  /** To people and applications, whatever they show. */
  others: Outcome;
  /** To another worker, with its own key and token. */
  otherWorker: Outcome;
}

/** A route that only the token of the worker opens, with a proof of its key. */
function ownRoute(below = '', options?: Call['options']): WorkerExpectation {
  return {
    opens: 'the token of the worker, with a proof of its key',
    call: (id) => ({ path: `/workers/${id}${below}`, ...(options && { options }) }),
    others: NO_PROOF,
    otherWorker: '404 worker.not-found',
  };
}

/** Routes between the service and its workers, which are not in the OpenAPI document. */
export const WORKERS: Record<string, WorkerExpectation> = {
  'POST /workers': {
    opens: 'a proof of a key, and a secret of the site',
    call: () => ({ path: '/workers', options: { json: registration } }),
    others: NO_PROOF,
    otherWorker: '403 worker.secret-refused',
  },
  'POST /workers/{id}/token': {
    opens: 'a proof of the key of the worker',
    call: (id) => ({ path: `/workers/${id}/token` }),
    others: NO_PROOF,
    otherWorker: '404 worker.not-found',
  },
  'PUT /workers/{id}': ownRoute('', { json: { protocol: 1, name: 'x', version: '1' } }),
  'DELETE /workers/{id}': ownRoute(),
  'POST /workers/{id}/claims': ownRoute('/claims', { json: claim }),
  'POST /workers/{id}/reports': ownRoute('/reports', { json: { reports: [] } }),
  'POST /workers/{id}/reads': ownRoute('/reads', { json: { id: '1' } }),
  'GET /workers/{id}/runs/{run}/input': ownRoute('/runs/1.1/input'),
  'PUT /workers/{id}/runs/{run}/output': ownRoute('/runs/1.1/output', { body: 'x' }),
  'POST /workers/{id}/runs/{run}/inputs': ownRoute('/runs/1.1/inputs', {
    json: { paths: ['/vo/f'] },
  }),
  'POST /workers/{id}/runs/{run}/uploads': ownRoute('/runs/1.1/uploads', {
    json: { files: [] },
  }),
  'POST /workers/{id}/runs/{run}/arrivals': ownRoute('/runs/1.1/arrivals', {
    json: { names: ['f'] },
  }),
  'POST /workers/{id}/runs/{run}/token': ownRoute('/runs/1.1/token'),
};
