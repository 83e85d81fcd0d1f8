/**
 * An instance of QuickJS, compiled to WebAssembly, with memory of its own. It serves one run after the other, and is put back to what it was before
 * the first: making one takes several times as long.
 */
import { getRandomValues } from 'node:crypto';
import quickjs from '@jitl/quickjs-wasmfile-release-sync';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSSyncVariant,
} from 'quickjs-emscripten-core';
import type { Bounds, CallKind, Natives } from './bridge.ts';
import { SCRIPT } from './script-limits.ts';

// Its types are those of CommonJS, where the default export is one level deeper than it is here.
const QUICKJS = quickjs as unknown as QuickJSSyncVariant;

const PAGE_BYTES = 64 * 1024;
/** What QuickJS declares as its minimum. */
const MEMORY_PAGES_FIRST = 256;
// The heap of the script, the static data and the stack of QuickJS, and copies of texts on their way in and out. QuickJS counts only its
// own heap, so that the WebAssembly memory has a maximum of its own.
const MEMORY_PAGES_MAX = (SCRIPT.heapBytesMax + 32 * 1024 * 1024) / PAGE_BYTES;
// Of the stack of 5 MB that the module has; deeper recursion is an error of the script.
const STACK_BYTES_MAX = 512 * 1024;
/** The grain in which the first state is kept: most of it is zeros. */
const BLOCK_BYTES = 4096;

const BOUNDS: Bounds = {
  callsMax: SCRIPT.callsMax,
  callsInFlightMax: SCRIPT.callsInFlightMax,
  callCharsMax: SCRIPT.callCharsMax,
  timersMax: SCRIPT.timersMax,
};

export interface Compiled {
  readonly wasm: WebAssembly.Module;
  /** An expression: the function `start` of the prelude. */
  readonly prelude: string;
}

/** What the functions of the host come to, in the run that has the instance. */
export interface Hooks {
  send(id: number, kind: CallKind, head: string, body: string): void;
  print(line: string): boolean;
  wait(id: number, ms: number): void;
  cancel(id: number): void;
  finish(isError: boolean, text: string): void;
  /** Whether QuickJS has to stop. */
  isLate(): boolean;
}

export class Instance {
  readonly memory: WebAssembly.Memory;
  readonly runtime: QuickJSRuntime;
  readonly context: QuickJSContext;
  readonly prepared: Readonly<Record<'start' | 'natives' | 'bounds', QuickJSHandle>>;
  readonly #first: readonly FirstBlock[];
  readonly #firstBytes: number;
  /** Of the run that has it. */
  hooks: Hooks | undefined;

  private constructor(prelude: string, runtime: QuickJSRuntime, memory: WebAssembly.Memory) {
    this.memory = memory;
    this.runtime = runtime;
    this.context = runtime.newContext();
    this.prepared = {
      start: this.context.unwrapResult(this.context.evalCode(prelude, 'easel.js')),
      natives: this.#natives(),
      bounds: this.context.unwrapResult(this.context.evalCode(`(${JSON.stringify(BOUNDS)})`, 'easel.js')),
    };
    runtime.setInterruptHandler(() => this.hooks?.isLate() ?? true);
    // The bindings keep these values, and a context that counts memory, once they were asked for; made in a run they would be gone with its memory.
    for (const name of ['undefined', 'null', 'true', 'false', 'global'] as const) void this.context[name];
    runtime.computeMemoryUsage().dispose();
    this.#first = firstBlocks(memory);
    this.#firstBytes = memory.buffer.byteLength;
  }

  static async create({ wasm, prelude }: Compiled): Promise<Instance> {
    const wasmMemory = new WebAssembly.Memory({ initial: MEMORY_PAGES_FIRST, maximum: MEMORY_PAGES_MAX });
    const silent: object = { print: ignore, printErr: ignore };
    const variant = newVariant(QUICKJS, { wasmModule: wasm, wasmMemory, emscriptenModule: silent });
    const module = await newQuickJSWASMModuleFromVariant(variant);
    const runtime = module.newRuntime();
    runtime.setMemoryLimit(SCRIPT.heapBytesMax);
    runtime.setMaxStackSize(STACK_BYTES_MAX);
    return new Instance(prelude, runtime, wasmMemory);
  }

  /**
   * Puts every byte back to what it was before the first run, so that nothing of a run is left for the next, whatever it did. False where it cannot:
   * the memory has grown, and never becomes smaller again. To be called only after a run that left WebAssembly in an orderly way: the place on its
   * stack is not in the memory.
   */
  restore(): boolean {
    this.hooks = undefined;
    if (this.memory.buffer.byteLength !== this.#firstBytes) return false;
    const bytes = new Uint8Array(this.memory.buffer);
    bytes.fill(0);
    for (const { at, content } of this.#first) bytes.set(content, at);
    return true;
  }

  /** The functions of the host. They take strings and numbers only, so that no code of the script runs while they read their arguments. */
  #natives(): QuickJSHandle {
    const { context } = this;
    const text = (handle: QuickJSHandle | undefined) =>
      handle !== undefined && context.typeof(handle) === 'string' ? context.getString(handle) : '';
    const number = (handle: QuickJSHandle | undefined) =>
      handle !== undefined && context.typeof(handle) === 'number' ? context.getNumber(handle) : Number.NaN;
    const natives: Readonly<Record<keyof Natives, (...args: QuickJSHandle[]) => QuickJSHandle | undefined>> = {
      send: (id, kind, head, body) => {
        this.hooks?.send(number(id), text(kind) === 'fetch' ? 'fetch' : 'data', text(head), text(body));
        return undefined;
      },
      print: (line) => (this.hooks?.print(text(line)) ? context.true : context.false),
      wait: (id, ms) => {
        this.hooks?.wait(number(id), number(ms));
        return undefined;
      },
      cancel: (id) => {
        this.hooks?.cancel(number(id));
        return undefined;
      },
      random: () => context.newNumber(randomNumber()),
      finish: (kind, value) => {
        this.hooks?.finish(text(kind) === 'error', text(value));
        return undefined;
      },
    };
    const object = context.newObject();
    for (const [name, native] of Object.entries(natives)) context.setProp(object, name, context.newFunction(name, native));
    return object;
  }
}

interface FirstBlock {
  /** Bytes from the start of the memory. */
  readonly at: number;
  readonly content: Uint8Array;
}

/** The blocks that are not all zeros. */
function firstBlocks({ buffer }: WebAssembly.Memory): FirstBlock[] {
  const blocks: FirstBlock[] = [];
  const zeros = Buffer.alloc(BLOCK_BYTES);
  for (let at = 0; at < buffer.byteLength; at += BLOCK_BYTES)
    if (!zeros.equals(new Uint8Array(buffer, at, BLOCK_BYTES)))
      blocks.push({ at, content: new Uint8Array(buffer.slice(at, at + BLOCK_BYTES)) });
  return blocks;
}

const drawn = new Uint32Array(512);
let drawnAt = drawn.length;

/** From 0 to below 1, with 53 bits that no script can work out from those before them. */
function randomNumber(): number {
  if (drawnAt === drawn.length) {
    getRandomValues(drawn);
    drawnAt = 0;
  }
  const [high = 0, low = 0] = drawn.subarray(drawnAt, drawnAt + 2);
  drawnAt += 2;
  return ((high >>> 5) * 2 ** 26 + (low >>> 6)) / 2 ** 53;
}

/** What the module itself would print, such as why it aborts. */
function ignore(): void {
  // The outcome of the run says it.
}
