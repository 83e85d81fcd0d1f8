/** A thread that runs scripts, one at a time, each in a fresh instance of QuickJS with its own memory. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { Engine } from './engine.ts';
import { OutputWriter } from './script-output.ts';
import type { FromThread, ScriptTask, ToThread } from './thread-messages.ts';

// On Linux of this thread alone: on a machine with few cores the event loop and the database go first.
if (process.platform === 'linux') setPriority(0, 10);

const { preludeFile } = workerData as { readonly preludeFile: string };
const wasmFile = createRequire(import.meta.url).resolve('@jitl/quickjs-wasmfile-release-sync/wasm');
const compiled = { wasm: new WebAssembly.Module(readFileSync(wasmFile)), prelude: readFileSync(preludeFile, 'utf8') };

/** Of the script that runs. */
let writer: OutputWriter | undefined;
let running: Engine | undefined;
let next = newEngine();

function tell(message: FromThread): void {
  parentPort?.postMessage(message);
}

/** Made ahead, after the answer to the script before it: what it takes is not in anybody's run. */
function newEngine(): Promise<Engine> {
  return Engine.create(compiled, {
    print: (line) => writer?.print(line) ?? false,
    call: (call, of, head, body) => tell({ kind: 'call', call, of, head, body }),
  });
}

async function run({ source, params, wallMsMax, output }: ScriptTask): Promise<void> {
  writer = new OutputWriter(output);
  const engine = await next;
  running = engine;
  const end = await engine.run(source, params, wallMsMax);
  running = undefined;
  tell({ kind: 'done', end });
  next = newEngine();
}

parentPort?.on('message', (message: ToThread) => {
  // A rejection ends the thread, and with it this run only.
  if (message.kind === 'run') void run(message.task);
  else running?.answered(message.call, message.text);
});
void next.then(() => tell({ kind: 'ready' }));
