/** The embedded database: Postgres in WebAssembly, alone in this thread, because it computes without giving way. */
import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { fuzzystrmatch } from '@electric-sql/pglite/contrib/fuzzystrmatch';
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';
import { DurableNodeFS, EMBEDDED_START_PARAMS } from './durable-node-fs.ts';
import type { WorkerInput, WorkerMessage } from './embedded.ts';
import { PGliteSocket } from './pglite-socket.ts';

const { directory, socketPath } = workerData as WorkerInput;
const db = await PGlite.create({
  fs: new DurableNodeFS(directory),
  extensions: { fuzzystrmatch, pg_trgm },
  startParams: [...EMBEDDED_START_PARAMS],
});
const socket = new PGliteSocket(db);
await socket.listen(socketPath);

parentPort?.once('message', async () => {
  await socket.close();
  // Writes a checkpoint, so that the next start has nothing to recover.
  await db.close();
  parentPort?.postMessage({ state: 'stopped' } satisfies WorkerMessage);
});
parentPort?.postMessage({ state: 'listening' } satisfies WorkerMessage);
