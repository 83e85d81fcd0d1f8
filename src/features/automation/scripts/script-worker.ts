/** A thread that runs scripts, one at a time, each in an instance of QuickJS that is new or as good as new. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { Engine, type EngineHost } from './engine.ts';
import { Instance } from './instance.ts';
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
let next = Instance.create(compiled);

const host: EngineHost = {
  print: (line) => writer?.print(line) ?? false,
  call: (call, of, head, body) => tell({ kind: 'call', call, of, head, body }),
};

function tell(message: FromThread): void {
  parentPort?.postMessage(message);
}

async function run({ source, params, wallMsMax, output }: ScriptTask): Promise<void> {
  writer = new OutputWriter(output);
  const instance = await next;
  const engine = new Engine(host, instance);
  running = engine;
  const end = await engine.run(source, params, wallMsMax);
  running = undefined;
  tell({ kind: 'done', end });
  // After the answer, so that what it takes is not in anybody's run.
  if (!engine.isOrderly || !instance.restore()) next = Instance.create(compiled);
}

parentPort?.on('message', (message: ToThread) => {
  // A rejection ends the thread, and with it this run only.
  if (message.kind === 'run') void run(message.task);
  else running?.answered(message.call, message.text);
});
void next.then(() => tell({ kind: 'ready' }));
