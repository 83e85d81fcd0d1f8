/** One run of a script in QuickJS, compiled to WebAssembly: the script reaches nothing but the functions that it is given here. */
import quickjs from '@jitl/quickjs-wasmfile-release-sync';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSSyncVariant,
} from 'quickjs-emscripten-core';
import type { Bounds, CallKind, Controls, Natives, Thrown } from './bridge.ts';
import { SCRIPT } from './script-limits.ts';
import { cutText } from './script-output.ts';
import { type ScriptEnd, type ScriptError, timedOut } from './thread-messages.ts';

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
/** Name of the script in stack traces. */
const FILE = 'script.js';
/** Jobs of promises between two looks at the clock. */
const JOBS_PER_LOOK = 1000;

const BOUNDS: Bounds = {
  callsMax: SCRIPT.callsMax,
  callsInFlightMax: SCRIPT.callsInFlightMax,
  callCharsMax: SCRIPT.callCharsMax,
  timersMax: SCRIPT.timersMax,
};

export interface EngineHost {
  /** False when the output is full. */
  print(line: string): boolean;
  /** Answered by `Engine.answered`. */
  call(id: number, kind: CallKind, head: string, body: string): void;
}

export interface Compiled {
  readonly wasm: WebAssembly.Module;
  /** An expression: the function `start` of the prelude. */
  readonly prelude: string;
}

export class Engine {
  readonly #host: EngineHost;
  readonly #prepared: Readonly<Record<'start' | 'natives' | 'bounds', QuickJSHandle>>;
  readonly #memory: WebAssembly.Memory;
  readonly #runtime: QuickJSRuntime;
  readonly #context: QuickJSContext;
  readonly #timers = new Map<number, NodeJS.Timeout>();
  readonly #end: Promise<ScriptEnd>;
  readonly #inFlight = new Set<number>();
  #controls: Readonly<Record<keyof Controls, QuickJSHandle>> | undefined;
  #resolve!: (end: ScriptEnd) => void;
  #isOver = false;
  #wasInterrupted = false;
  #calls = 0;
  #wallMsMax = 0;
  #deadlineMs = Number.POSITIVE_INFINITY;
  #deadline: NodeJS.Timeout | undefined;

  private constructor(host: EngineHost, prelude: string, runtime: QuickJSRuntime, memory: WebAssembly.Memory) {
    this.#host = host;
    this.#memory = memory;
    this.#runtime = runtime;
    this.#context = runtime.newContext();
    this.#prepared = {
      start: this.#context.unwrapResult(this.#context.evalCode(prelude, 'easel.js')),
      natives: this.#natives(),
      bounds: this.#context.unwrapResult(this.#context.evalCode(`(${JSON.stringify(BOUNDS)})`, 'easel.js')),
    };
    this.#end = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** A fresh instance of the module for each run: nothing of one is left for the next, whatever it did to its memory. */
  static async create({ wasm, prelude }: Compiled, host: EngineHost): Promise<Engine> {
    const wasmMemory = new WebAssembly.Memory({ initial: MEMORY_PAGES_FIRST, maximum: MEMORY_PAGES_MAX });
    const silent: object = { print: ignore, printErr: ignore };
    const variant = newVariant(QUICKJS, { wasmModule: wasm, wasmMemory, emscriptenModule: silent });
    const module = await newQuickJSWASMModuleFromVariant(variant);
    const runtime = module.newRuntime();
    runtime.setMemoryLimit(SCRIPT.heapBytesMax);
    runtime.setMaxStackSize(STACK_BYTES_MAX);
    return new Engine(host, prelude, runtime, wasmMemory);
  }

  /** Settles when the script is over. The instance cannot be used again. */
  async run(source: string, params: string, wallMsMax: number): Promise<ScriptEnd> {
    this.#wallMsMax = wallMsMax;
    this.#deadlineMs = performance.now() + wallMsMax;
    this.#deadline = setTimeout(() => this.#timeOut(), wallMsMax);
    this.#runtime.setInterruptHandler(() => {
      if (performance.now() < this.#deadlineMs) return false;
      this.#wasInterrupted = true;
      return true;
    });
    this.#enter(() => this.#begin(source, params));
    return this.#end;
  }

  answered(id: number, text: string): void {
    if (!this.#inFlight.delete(id)) return;
    this.#enter(() => this.#control('answered', this.#context.newNumber(id), this.#context.newString(text)));
  }

  /** Runs something in the sandbox, and then the jobs of its promises. */
  #enter(inside: () => void): void {
    if (this.#isOver) return;
    try {
      inside();
      while (!this.#isOver && this.#runtime.hasPendingJob()) {
        const done = this.#runtime.executePendingJobs(JOBS_PER_LOOK);
        if (done.error !== undefined) this.#fail(this.#errorOf(done.error));
        if (performance.now() >= this.#deadlineMs) this.#timeOut();
      }
      if (this.#wasInterrupted) this.#timeOut();
      if (!this.#isOver && this.#inFlight.size === 0 && this.#timers.size === 0) this.#stall();
    } catch (error) {
      // Of WebAssembly or of the bindings, which stop where there is no memory left for what they need.
      this.#fail({ code: 'SCRIPT_MEMORY', message: `${OUT_OF_MEMORY} (${nameOf(error)})` });
    }
  }

  #begin(source: string, params: string): void {
    const context = this.#context;
    const { start, natives, bounds } = this.#prepared;
    const started = context.callFunction(start, context.undefined, natives, bounds, context.newString(params));
    const controls = context.unwrapResult(started);
    this.#controls = {
      run: context.getProp(controls, 'run'),
      answered: context.getProp(controls, 'answered'),
      fired: context.getProp(controls, 'fired'),
    };
    // On the first line, so that the lines of the script keep their numbers; the line break ends a comment.
    const script = context.evalCode(`(async () => { "use strict"; ${source}\n})`, FILE);
    if (script.error !== undefined) this.#fail(this.#syntaxErrorOf(script.error));
    else this.#control('run', script.value);
  }

  #control(name: keyof Controls, ...args: readonly QuickJSHandle[]): void {
    const control = this.#controls?.[name];
    if (control === undefined) throw new Error('the prelude was not started');
    const done = this.#context.callFunction(control, this.#context.undefined, ...args);
    if (done.error !== undefined) this.#fail(this.#errorOf(done.error));
  }

  /** The functions of the host. They take strings and numbers only, so that no code of the script runs while they read their arguments. */
  #natives(): QuickJSHandle {
    const context = this.#context;
    const text = (handle: QuickJSHandle | undefined) =>
      handle !== undefined && context.typeof(handle) === 'string' ? context.getString(handle) : '';
    const number = (handle: QuickJSHandle | undefined) =>
      handle !== undefined && context.typeof(handle) === 'number' ? context.getNumber(handle) : Number.NaN;
    const natives: Readonly<Record<keyof Natives, (...args: QuickJSHandle[]) => QuickJSHandle | undefined>> = {
      send: (id, kind, head, body) => {
        this.#send(number(id), text(kind) === 'fetch' ? 'fetch' : 'data', text(head), text(body));
        return undefined;
      },
      print: (line) => (this.#host.print(text(line)) ? context.true : context.false),
      wait: (id, ms) => {
        this.#wait(number(id), number(ms));
        return undefined;
      },
      cancel: (id) => {
        this.#cancel(number(id));
        return undefined;
      },
      finish: (kind, value) => {
        this.#finish(text(kind) === 'error', text(value));
        return undefined;
      },
    };
    const object = context.newObject();
    for (const [name, native] of Object.entries(natives)) context.setProp(object, name, context.newFunction(name, native));
    return object;
  }

  #send(id: number, kind: CallKind, head: string, body: string): void {
    this.#calls += 1;
    const isAllowed =
      !this.#isOver &&
      Number.isSafeInteger(id) &&
      !this.#inFlight.has(id) &&
      this.#inFlight.size < SCRIPT.callsInFlightMax &&
      this.#calls <= SCRIPT.callsMax &&
      head.length + body.length <= SCRIPT.callCharsMax;
    // The prelude keeps the bounds; this is for a script that has got hold of its functions.
    if (!isAllowed) throw new Error('this call is not allowed');
    this.#inFlight.add(id);
    this.#host.call(id, kind, head, body);
  }

  #wait(id: number, ms: number): void {
    if (this.#isOver || !Number.isSafeInteger(id) || this.#timers.has(id) || this.#timers.size >= SCRIPT.timersMax)
      throw new Error('this timer is not allowed');
    const delayMs = Math.min(Math.max(ms, 0), SCRIPT.wallMsMax + 1000);
    this.#timers.set(
      id,
      setTimeout(() => {
        this.#timers.delete(id);
        this.#enter(() => this.#control('fired', this.#context.newNumber(id)));
      }, delayMs),
    );
  }

  #cancel(id: number): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
  }

  #finish(isError: boolean, text: string): void {
    if (!isError) {
      this.#close({ value: text === '' ? null : cutText(text, SCRIPT.valueBytesMax) });
      return;
    }
    const { message, stack, isOutOfMemory, isNull } = JSON.parse(text) as Thrown;
    // The memory grows only, so that it still tells it after the heap was released.
    const wasFull = this.#memory.buffer.byteLength > SCRIPT.heapBytesMax * 0.9;
    this.#fail(thrownError(String(message), String(stack), isOutOfMemory === true || (isNull === true && wasFull)));
  }

  /** An error that the prelude did not see: of the prelude itself, or one that cannot be caught. */
  #errorOf(handle: QuickJSHandle): ScriptError {
    const read = (name: string) => {
      const value = this.#context.getProp(handle, name);
      return this.#context.typeof(value) === 'string' ? this.#context.getString(value) : '';
    };
    const message = read('message');
    return thrownError(`${read('name') || 'Error'}: ${message}`, read('stack'), message === 'out of memory');
  }

  #syntaxErrorOf(handle: QuickJSHandle): ScriptError {
    const { code, message, line } = this.#errorOf(handle);
    return { code: code === 'SCRIPT_ERROR' ? 'SCRIPT_SYNTAX' : code, message, ...(line !== undefined && { line }) };
  }

  #timeOut(): void {
    this.#fail(timedOut(this.#wallMsMax));
  }

  #stall(): void {
    const isFull = this.#heapBytes() > SCRIPT.heapBytesMax * 0.9;
    this.#fail(isFull ? { code: 'SCRIPT_MEMORY', message: OUT_OF_MEMORY } : STALLED);
  }

  /** Walks the whole heap, so only for the end of a run. */
  #heapBytes(): number {
    const usage = this.#runtime.computeMemoryUsage();
    return this.#context.getNumber(this.#context.getProp(usage, 'malloc_size'));
  }

  #fail(found: ScriptError): void {
    // Whatever the script made of the interruption.
    const error = this.#wasInterrupted ? timedOut(this.#wallMsMax) : found;
    this.#close({ error: { ...error, message: cutText(error.message, SCRIPT.messageCharsMax) } });
  }

  #close(end: ScriptEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#deadline);
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    this.#resolve(end);
  }
}

/** What the module itself would print, such as why it aborts. */
function ignore(): void {
  // The outcome of the run says it.
}

const OUT_OF_MEMORY = `The script needed more than ${SCRIPT.heapBytesMax / 1024 / 1024} MB of memory.`;

const MEMORY_EXHAUSTED: ScriptError = { code: 'SCRIPT_MEMORY', message: OUT_OF_MEMORY };

const STALLED: ScriptError = {
  code: 'SCRIPT_STALLED',
  message: 'The script awaits a promise that nothing can settle any more: no call is under way and no timer is set.',
};

const LINE = new RegExp(`${FILE.replace('.', '\\.')}:(\\d+)`);

function thrownError(message: string, stack: string, isOutOfMemory: boolean): ScriptError {
  if (isOutOfMemory) return MEMORY_EXHAUSTED;
  const line = LINE.exec(stack)?.[1];
  return { code: 'SCRIPT_ERROR', message, ...(line !== undefined && { line: Number(line) }) };
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown';
}
