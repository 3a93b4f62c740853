/** Answer of `POST /workers/<id>/token`. */
export interface WorkerTokenAnswer {
  token: string;
  /** Seconds. */
  expires_in: number;
  /** Seconds of silence after which the worker's runs are taken for stalled. */
  lease_seconds: number;
}

/** Answer of `PUT /workers/<id>`. */
export interface WorkerWordsAnswer {
  /** As that of a token. */
  lease_seconds: number;
  /** The number of its last claim: the next one is above it. */
  seq: number;
}

/** Answer of `POST /workers`. */
export interface RegisteredWorkerAnswer extends WorkerTokenAnswer {
  id: string;
}
