/** Runs scripts in threads of their own, a few at once; those that wait take turns by their share. */
import { setMaxListeners } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Clock, Timer } from '../../../../actors/runtime/ports.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { EgressFailure } from '../../../egress/failure.ts';
import { EgressSlots } from '../../../egress/slots.ts';
import { answerOf } from './host-calls.ts';
import { SCRIPT } from './script-limits.ts';
import { newOutput, readOutput } from './script-output.ts';
import { type OnCall, ScriptThread, type ThreadFiles } from './script-thread.ts';
import type { ScriptError } from './thread-messages.ts';
import type { ScriptWorld } from './world.ts';

export interface ScriptRun {
  /** The body of an async function: `await` and `return` work at its top. */
  readonly source: string;
  /** JSON values; the global `params`. */
  readonly params: unknown;
  readonly world: ScriptWorld;
  readonly signal?: AbortSignal | undefined;
}

export interface ScriptOutcome {
  readonly ok: boolean;
  /** What the script returned, as JSON text cut at 64 KB. */
  readonly value: string | null;
  /** The lines of the console, cut at 64 KB. */
  readonly output: string;
  readonly error: ScriptError | null;
  /** Calls that the script made. */
  readonly calls: number;
}

export interface SandboxDeps {
  /** Folder of the build, where the files of the thread are. */
  readonly builtDir: string;
  readonly clock: Clock;
  readonly log: { error(details: object, message: string): void };
  /** Scripts at once. Default: as many as the machine has cores, and two at least, because most of their time is waiting. */
  readonly threads?: number;
  /** Default: that of `SCRIPT`. */
  readonly wallMsMax?: number;
}

const THREADS_MIN = 2;
const THREADS_MAX = 8;
const WAITING_PER_SHARE_MAX = 50;
const WAITING_MAX = 1000;
/** A warm thread that nobody needs ends after this time. */
const IDLE_MS = 60_000;
/** A thread is replaced after so many runs, so that nothing that one of them leaves behind adds up. */
const RUNS_PER_THREAD = 200;

export class ScriptSandbox {
  readonly #deps: SandboxDeps;
  readonly #files: ThreadFiles;
  readonly #slots: EgressSlots;
  readonly #closed = new AbortController();
  readonly #warm: ScriptThread[] = [];
  readonly #active = new Set<Promise<ScriptOutcome>>();
  #idle: Timer | undefined;

  constructor(deps: SandboxDeps) {
    this.#deps = deps;
    // Every run that waits listens to it; their number has a bound.
    setMaxListeners(0, this.#closed.signal);
    this.#files = { workerFile: join(deps.builtDir, 'script-worker.js'), preludeFile: join(deps.builtDir, 'script-prelude.js') };
    const total = deps.threads ?? Math.min(Math.max(availableParallelism(), THREADS_MIN), THREADS_MAX);
    // One share never holds all threads, unless there is only one.
    const perShare = Math.max(1, Math.floor(total / 2));
    this.#slots = new EgressSlots({ total, perShare, waitingPerShare: WAITING_PER_SHARE_MAX, waitingTotal: WAITING_MAX });
  }

  /** Scripts that run now. */
  get running(): number {
    return this.#slots.used;
  }

  /**
   * Runs a script; scripts of one `share` do not keep those of another waiting. What the script does wrong is an outcome. Rejects with
   * PAYLOAD_TOO_LARGE where it or its params are too large, and with UNAVAILABLE where too many wait or no thread can be started.
   */
  async run(run: ScriptRun, share: string): Promise<ScriptOutcome> {
    const params = paramsText(run.params);
    if (Buffer.byteLength(run.source) > SCRIPT.sourceBytesMax) throw tooLarge('source', SCRIPT.sourceBytesMax);
    const signal = run.signal === undefined ? this.#closed.signal : AbortSignal.any([run.signal, this.#closed.signal]);
    const release = await this.#slot(share, signal);
    if (release === undefined) return CANCELED;
    const outcome = this.#inThread(run, params, signal);
    this.#active.add(outcome);
    try {
      return await outcome;
    } finally {
      this.#active.delete(outcome);
      release();
    }
  }

  /** Cancels what runs and waits, and ends the threads. */
  async close(): Promise<void> {
    this.#closed.abort();
    await Promise.allSettled(this.#active);
    this.#endWarm();
  }

  /** Undefined where the run was canceled while it waited. */
  async #slot(share: string, signal: AbortSignal): Promise<(() => void) | undefined> {
    try {
      return await this.#slots.take(share, signal);
    } catch (error) {
      if (signal.aborted) return undefined;
      if (error instanceof EgressFailure)
        throw new Failure('UNAVAILABLE', { message: 'Too many scripts are waiting already.', retryAfterS: 5 });
      throw error;
    }
  }

  async #inThread({ source, world }: ScriptRun, params: string, signal: AbortSignal): Promise<ScriptOutcome> {
    const { clock, log, wallMsMax = SCRIPT.wallMsMax } = this.#deps;
    const thread = await this.#thread();
    const output = newOutput();
    let calls = 0;
    const onBug = (err: unknown) => log.error({ err }, 'a call of a script failed');
    const onCall: OnCall = (of, head, body) => {
      calls += 1;
      return answerOf(world, { of, head, body }, onBug);
    };
    const { end, isUsable } = await thread.run({ source, params, wallMsMax, output }, onCall, signal);
    if (isUsable && thread.runs < RUNS_PER_THREAD && !this.#closed.signal.aborted) this.#keep(thread, clock);
    else thread.kill({ code: 'SCRIPT_CANCELED', message: 'The thread is not needed any more.' });
    const error = 'error' in end ? end.error : null;
    return { ok: error === null, value: 'value' in end ? end.value : null, output: readOutput(output), error, calls };
  }

  async #thread(): Promise<ScriptThread> {
    for (let warm = this.#warm.pop(); warm !== undefined; warm = this.#warm.pop()) if (!warm.isDead) return warm;
    try {
      return await ScriptThread.start(this.#files, this.#deps.clock);
    } catch (err) {
      this.#deps.log.error({ err }, 'the thread for scripts could not be started');
      throw new Failure('UNAVAILABLE', { message: 'The sandbox of scripts could not be started.', retryAfterS: 5 });
    }
  }

  #keep(thread: ScriptThread, clock: Clock): void {
    this.#warm.push(thread);
    this.#idle?.cancel();
    this.#idle = clock.after(IDLE_MS, () => this.#endWarm());
  }

  #endWarm(): void {
    this.#idle?.cancel();
    this.#idle = undefined;
    for (const thread of this.#warm.splice(0)) thread.kill({ code: 'SCRIPT_CANCELED', message: 'The thread is not needed any more.' });
  }
}

const CANCELED: ScriptOutcome = {
  ok: false,
  value: null,
  output: '',
  error: { code: 'SCRIPT_CANCELED', message: 'The run was canceled.' },
  calls: 0,
};

function paramsText(params: unknown): string {
  const text = JSON.stringify(params ?? null);
  if (Buffer.byteLength(text) > SCRIPT.paramsBytesMax) throw tooLarge('params', SCRIPT.paramsBytesMax);
  return text;
}

function tooLarge(param: string, bytesMax: number): Failure {
  return new Failure('PAYLOAD_TOO_LARGE', { message: `${param}: must have at most ${bytesMax / 1024} KB.`, param });
}
