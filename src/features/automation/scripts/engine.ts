/** One run of a script in QuickJS: the script reaches nothing but the functions that it is given here. */
import type { QuickJSHandle } from 'quickjs-emscripten-core';
import type { CallKind, Controls, Thrown } from './bridge.ts';
import type { Hooks, Instance } from './instance.ts';
import { SCRIPT } from './script-limits.ts';
import { cutText } from './script-output.ts';
import { type ScriptEnd, type ScriptError, timedOut } from './thread-messages.ts';

/** Name of the script in stack traces. */
const FILE = 'script.js';
/** Jobs of promises between two looks at the clock. */
const JOBS_PER_LOOK = 1000;

export interface EngineHost {
  /** False when the output is full. */
  print(line: string): boolean;
  /** Answered by `Engine.answered`. */
  call(id: number, kind: CallKind, head: string, body: string): void;
}

export class Engine implements Hooks {
  readonly #host: EngineHost;
  readonly #instance: Instance;
  readonly #timers = new Map<number, NodeJS.Timeout>();
  readonly #end: Promise<ScriptEnd>;
  readonly #inFlight = new Set<number>();
  #controls: Readonly<Record<keyof Controls, QuickJSHandle>> | undefined;
  #resolve!: (end: ScriptEnd) => void;
  #isOver = false;
  #wasInterrupted = false;
  /** WebAssembly or the bindings stopped in the middle. */
  #wasBroken = false;
  #calls = 0;
  #wallMsMax = 0;
  #deadlineMs = Number.POSITIVE_INFINITY;
  #deadline: NodeJS.Timeout | undefined;

  /** `instance`: new or restored. */
  constructor(host: EngineHost, instance: Instance) {
    this.#host = host;
    this.#instance = instance;
    instance.hooks = this;
    this.#end = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** Whether it ended in an orderly way, by its value or an error of its own, so that the instance can be restored. */
  get isOrderly(): boolean {
    return this.#isOver && !this.#wasInterrupted && !this.#wasBroken;
  }

  /** Settles when the script is over. */
  async run(source: string, params: string, wallMsMax: number): Promise<ScriptEnd> {
    this.#wallMsMax = wallMsMax;
    this.#deadlineMs = performance.now() + wallMsMax;
    this.#deadline = setTimeout(() => this.#timeOut(), wallMsMax);
    this.#enter(() => this.#begin(source, params));
    return this.#end;
  }

  isLate(): boolean {
    if (performance.now() < this.#deadlineMs) return false;
    this.#wasInterrupted = true;
    return true;
  }

  answered(id: number, text: string): void {
    if (!this.#inFlight.delete(id)) return;
    this.#enter(() => this.#control('answered', this.#instance.context.newNumber(id), this.#instance.context.newString(text)));
  }

  /** Runs something in the sandbox, and then the jobs of its promises. */
  #enter(inside: () => void): void {
    if (this.#isOver) return;
    try {
      inside();
      while (!this.#isOver && this.#instance.runtime.hasPendingJob()) {
        const done = this.#instance.runtime.executePendingJobs(JOBS_PER_LOOK);
        if (done.error !== undefined) this.#fail(this.#errorOf(done.error));
        if (performance.now() >= this.#deadlineMs) this.#timeOut();
      }
      if (this.#wasInterrupted) this.#timeOut();
      if (!this.#isOver && this.#inFlight.size === 0 && this.#timers.size === 0) this.#stall();
    } catch (error) {
      this.#wasBroken = true;
      // Of WebAssembly or of the bindings, which stop where there is no memory left for what they need.
      this.#fail({ code: 'SCRIPT_MEMORY', message: `${OUT_OF_MEMORY} (${nameOf(error)})` });
    }
  }

  #begin(source: string, params: string): void {
    const context = this.#instance.context;
    const { start, natives, bounds } = this.#instance.prepared;
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
    const done = this.#instance.context.callFunction(control, this.#instance.context.undefined, ...args);
    if (done.error !== undefined) this.#fail(this.#errorOf(done.error));
  }

  print(line: string): boolean {
    return this.#host.print(line);
  }

  send(id: number, kind: CallKind, head: string, body: string): void {
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

  wait(id: number, ms: number): void {
    if (this.#isOver || !Number.isSafeInteger(id) || this.#timers.has(id) || this.#timers.size >= SCRIPT.timersMax)
      throw new Error('this timer is not allowed');
    const delayMs = Math.min(Math.max(ms, 0), SCRIPT.wallMsMax + 1000);
    this.#timers.set(
      id,
      setTimeout(() => {
        this.#timers.delete(id);
        this.#enter(() => this.#control('fired', this.#instance.context.newNumber(id)));
      }, delayMs),
    );
  }

  cancel(id: number): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
  }

  finish(isError: boolean, text: string): void {
    if (!isError) {
      this.#close({ value: text === '' ? null : cutText(text, SCRIPT.valueBytesMax) });
      return;
    }
    const { message, stack, isOutOfMemory, isNull } = JSON.parse(text) as Thrown;
    // The memory grows only, so that it still tells it after the heap was released.
    const wasFull = this.#instance.memory.buffer.byteLength > SCRIPT.heapBytesMax * 0.9;
    this.#fail(thrownError(String(message), String(stack), isOutOfMemory === true || (isNull === true && wasFull)));
  }

  /** An error that the prelude did not see: of the prelude itself, or one that cannot be caught. */
  #errorOf(handle: QuickJSHandle): ScriptError {
    const read = (name: string) => {
      const value = this.#instance.context.getProp(handle, name);
      return this.#instance.context.typeof(value) === 'string' ? this.#instance.context.getString(value) : '';
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
    const usage = this.#instance.runtime.computeMemoryUsage();
    return this.#instance.context.getNumber(this.#instance.context.getProp(usage, 'malloc_size'));
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
