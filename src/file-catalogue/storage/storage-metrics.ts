import { Injectable } from '@nestjs/common';
import { Database } from '#src/database/index.js';
import { Metrics } from '#src/runtime/index.js';
import { countBytes } from './bytes.repository.js';

/** Metrics of bytes at storage elements, as all instances know them. */
@Injectable()
export class StorageMetrics {
  constructor(metrics: Metrics, database: Database) {
    const text = 'Bytes at storage elements that belong to no file, by what becomes of them';
    metrics.gauge('gridgate_storage_removals', text, ['state'], async (gauge) => {
      gauge.reset();
      for (const { state, count } of await countBytes(database).catch(() => []))
        gauge.set({ state }, count);
    });
  }
}
