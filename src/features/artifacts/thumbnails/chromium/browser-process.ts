/** One Chromium for one page: a group of processes and a profile of its own, both gone at the end, however it ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { constants, setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { Clock, Timer } from '../../../../../actors/runtime/ports.ts';
import { DevtoolsPipe } from './devtools-pipe.ts';
import { flagsFor } from './flags.ts';
import { groupMemoryBytes } from './group-memory.ts';

/** Chromium itself holds some 150 MB. */
const MEMORY_BYTES_MAX = 768 * 1024 * 1024;
const MEMORY_LOOK_MS = 200;
/** Of the standard error, to tell why a browser did not start. */
const SAID_CHARS_MAX = 8192;
/** How long that is waited for. */
const SAID_MS_MAX = 1000;

const PROFILE_PREFIX = 'easel-thumbnail-';

export interface Launch {
  readonly file: string;
  readonly sandboxed: boolean;
}

/** The browser cannot be started as it should be. */
export class BrowserUnstartable extends Error {
  override readonly name = 'BrowserUnstartable';
}

export class BrowserProcess {
  readonly pipe: DevtoolsPipe;
  readonly #child: ChildProcess;
  readonly #profile: string;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #exited: Promise<void>;
  /** It has ended, and everything that it said has arrived. */
  readonly #closed: Promise<void>;
  #said = '';
  #spawnError: Error | undefined;
  #looking: Timer | undefined;
  #ended = false;

  /** `signal` ends it at once. Whoever starts one calls `end`. */
  static async start(launch: Launch, clock: Clock, signal: AbortSignal): Promise<BrowserProcess> {
    signal.throwIfAborted();
    const profile = await mkdtemp(join(tmpdir(), PROFILE_PREFIX));
    try {
      return new BrowserProcess(launch, profile, clock, signal);
    } catch (error) {
      await rm(profile, { recursive: true, force: true });
      throw error;
    }
  }

  private constructor({ file, sandboxed }: Launch, profile: string, clock: Clock, signal: AbortSignal) {
    this.#profile = profile;
    this.#clock = clock;
    this.#signal = signal;
    this.#child = spawn(file, flagsFor(profile, sandboxed), {
      cwd: profile,
      // A group of its own, so that all of its processes can be ended together.
      detached: true,
      // The settings of the service, with its secrets, are not the browser's.
      env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: profile, TMPDIR: profile, LANG: 'C.UTF-8' },
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    });
    this.#exited = new Promise((resolve) => {
      this.#child.once('exit', () => resolve());
      this.#child.once('error', (error) => {
        this.#spawnError = error;
        resolve();
      });
    });
    this.#closed = new Promise((resolve) => this.#child.once('close', () => resolve()));
    const [, , , to, from] = this.#child.stdio;
    this.pipe = new DevtoolsPipe(to as Writable, from as Readable);
    this.pipe.failed.catch(() => this.#killAll());
    this.#child.stderr?.on('data', (text: Buffer) => {
      if (this.#said.length < SAID_CHARS_MAX) this.#said += text.toString('utf8');
    });
    const { pid } = this.#child;
    // Whoever is being served comes first.
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
    signal.addEventListener('abort', this.#stop);
    if (signal.aborted) this.#stop();
    this.#watchMemory();
  }

  readonly #stop = () => this.pipe.break(new Error('the service stops'));

  /** Settles when the browser answers. Throws `BrowserUnstartable` where it cannot start here at all. */
  async ready(): Promise<void> {
    try {
      await this.pipe.ask('Browser.getVersion');
    } catch (error) {
      await Promise.race([this.#closed, new Promise<void>((resolve) => this.#clock.after(SAID_MS_MAX, resolve))]);
      if (this.#spawnError !== undefined) throw new BrowserUnstartable(this.#spawnError.message);
      if (/no usable sandbox|failed to move to new namespace|sandbox host|running as root/i.test(this.#said)) {
        throw new BrowserUnstartable('it cannot use its sandbox on this machine');
      }
      throw error;
    }
  }

  /** Ends all of its processes and removes its profile. */
  async end(): Promise<void> {
    this.#ended = true;
    this.#signal.removeEventListener('abort', this.#stop);
    this.#looking?.cancel();
    this.pipe.break(new Error('the browser was ended'));
    this.#killAll();
    await this.#exited;
    // Processes that are being killed may still write for a moment.
    await rm(this.#profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }

  #killAll(): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch (error) {
      // All of them have ended by themselves; some systems say EPERM of processes that have ended and were not waited for.
      if (!['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }

  /** The heap of JavaScript has a bound of its own; this one is for all that a page can fill beside it. */
  #watchMemory(): void {
    this.#looking = this.#clock.after(MEMORY_LOOK_MS, async () => {
      const bytes = await groupMemoryBytes(this.#child.pid ?? 0);
      if (this.#ended) return;
      if (bytes > MEMORY_BYTES_MAX) this.pipe.break(new Error('the page takes too much memory'));
      else this.#watchMemory();
    });
  }
}
