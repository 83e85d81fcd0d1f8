/** A WebSocket that reconnects: with growing pauses, immediately when the network is back, and not at all after a final refusal. */
import { CLOSE, isFinal } from '../../../protocol/core/close-codes.ts';
import type { ConnectionState, Problem } from './api.ts';
import { EaselError, isFinalError } from './errors.ts';
import type { Surroundings, Transport } from './transport.ts';

/** The part of WebSocket that is used. */
export interface PageSocket {
  binaryType: string;
  addEventListener(
    type: string,
    listener: (event: { readonly data?: unknown; readonly code?: number; readonly reason?: string }) => void,
  ): void;
  send(data: string | Uint8Array): void;
  close(): void;
}

export interface ConnectionSurroundings extends Surroundings {
  /** `url` is an HTTP address or relative to the page's origin. Binary data arrive as ArrayBuffer. */
  readonly openSocket: (url: string) => PageSocket;
  /** Calls `run` whenever the network is back or the page is shown again. */
  readonly onWake: (run: () => void) => void;
}

export interface ConnectionUser {
  /** Path below `/v1/data/{artifactId}`. */
  readonly path: string;
  /** Sent in the address, because a browser's WebSocket cannot send headers. Absent if the protocol sends the token in a frame. */
  readonly token?: () => string | undefined;
  /** A frame that the server answers immediately; checks whether the connection is alive. */
  readonly probe: string | Uint8Array;
  readonly opened: () => void;
  readonly heard: (data: unknown) => void;
  readonly became: (state: ConnectionState, error: EaselError | undefined) => void;
}

/** The server sends something every 20 s. After 30 s of silence the connection is taken for dead, because browsers do not report it. */
const SILENT_TICKS_MAX = 3;
const TICK_MS = 10_000;
const WAIT_MS_FIRST = 500;
const WAIT_MS_MAX = 30_000;

const CODES: Readonly<Record<number, readonly [Problem['code'], number]>> = {
  [CLOSE.unauthorized]: ['UNAUTHORIZED', 401],
  [CLOSE.revoked]: ['FORBIDDEN', 403],
  [CLOSE.gone]: ['ARTIFACT_NOT_FOUND', 404],
};

export class Connection {
  state: ConnectionState = 'idle';
  readonly #transport: Transport;
  readonly #around: ConnectionSurroundings;
  readonly #user: ConnectionUser;
  #socket: PageSocket | undefined;
  #isOpen = false;
  /** Aborts the timers of the current connection attempt. */
  #stop = new AbortController();
  /** Attempts since the connection was last live. */
  #tries = 0;
  #silentTicks = 0;

  constructor(transport: Transport, around: ConnectionSurroundings, user: ConnectionUser) {
    this.#transport = transport;
    this.#around = around;
    this.#user = user;
    around.onWake(() => this.#wake());
  }

  /** Does nothing if the connection is open or being opened. */
  open(): void {
    if (this.state !== 'idle' && this.state !== 'refused') return;
    this.#tries = 0;
    this.#become('connecting');
    this.#connect();
  }

  close(): void {
    this.#end();
    this.#become('idle');
  }

  /** The server has accepted the connection: the backoff starts again. */
  ready(): void {
    this.#tries = 0;
    this.#become('live');
  }

  /** False if there is no connection. */
  send(data: string | Uint8Array): boolean {
    if (this.#isOpen) this.#socket?.send(data);
    return this.#isOpen;
  }

  #connect(): void {
    this.#end();
    this.#tries += 1;
    let socket: PageSocket;
    try {
      socket = this.#around.openSocket(this.#transport.url(this.#user.path, { token: this.#user.token?.() }));
    } catch (error) {
      // The page's content security policy forbids it, or the artifact is not known.
      this.#refuse(error instanceof EaselError ? error : new EaselError({ code: 'FORBIDDEN', status: 0, message: String(error) }, error));
      return;
    }
    this.#socket = socket;
    socket.binaryType = 'arraybuffer';
    const on: PageSocket['addEventListener'] = (type, run) =>
      socket.addEventListener(type, (event) => {
        if (socket === this.#socket) run(event);
      });
    on('open', () => {
      this.#isOpen = true;
      this.#user.opened();
    });
    on('message', ({ data }) => {
      this.#silentTicks = 0;
      this.#user.heard(data);
    });
    on('close', ({ code = 0, reason = '' }) => this.#lost(code, reason));
    void this.#listen(this.#stop.signal);
  }

  #end(): void {
    this.#stop.abort();
    this.#stop = new AbortController();
    const socket = this.#socket;
    this.#socket = undefined;
    this.#isOpen = false;
    socket?.close();
  }

  /** Probes before it gives up, because a suspended page may have missed frames of a connection that works. */
  async #listen(signal: AbortSignal): Promise<void> {
    for (this.#silentTicks = 0; this.#silentTicks < SILENT_TICKS_MAX; this.#silentTicks += 1) {
      if (this.#silentTicks === SILENT_TICKS_MAX - 1) this.send(this.#user.probe);
      await this.#pause(TICK_MS, signal);
      if (signal.aborted) return;
    }
    this.#lost(0, '');
  }

  #wake(): void {
    if (this.state === 'idle' || this.state === 'refused') return;
    if (!this.#isOpen) {
      this.#connect();
      return;
    }
    // If no frame arrives until the next tick, the connection is dead.
    this.#silentTicks = SILENT_TICKS_MAX - 1;
    this.send(this.#user.probe);
  }

  #lost(code: number, reason: string): void {
    const wasOpen = this.#isOpen;
    this.#end();
    if (isFinal(code)) {
      const [known, status] = CODES[code] ?? ['INVALID_REQUEST', 400];
      this.#refuse(new EaselError({ code: known, status, message: reason || `The server closed the connection with code ${code}.` }));
      return;
    }
    this.#become(wasOpen ? 'connecting' : 'offline');
    void this.#comeBack(wasOpen, this.#stop.signal);
  }

  async #comeBack(wasOpen: boolean, signal: AbortSignal): Promise<void> {
    // Browsers do not say why a WebSocket failed to open; a plain request to the same path does.
    const refusal = wasOpen ? undefined : await this.#refusal(signal);
    if (signal.aborted) return;
    if (refusal !== undefined) {
      this.#refuse(refusal);
      return;
    }
    const waitMs = Math.min(WAIT_MS_FIRST * 2 ** Math.max(this.#tries - 1, 0), WAIT_MS_MAX);
    // Jitter, so that clients that lost their connections together do not all reconnect at once.
    await this.#pause(waitMs * (0.5 + this.#around.random()), signal);
    if (!signal.aborted) this.#connect();
  }

  async #refusal(signal: AbortSignal): Promise<EaselError | undefined> {
    try {
      await this.#transport.call({ method: 'GET', path: this.#user.path, token: this.#user.token?.(), once: true, signal });
    } catch (error) {
      // 426 means that access is granted and only the upgrade is missing.
      if (error instanceof EaselError && error.status !== 426 && isFinalError(error)) return error;
    }
    return undefined;
  }

  /** Resolves after the time or when the signal fires; callers check the signal. */
  #pause(ms: number, signal: AbortSignal): Promise<void> {
    return this.#around.wait(ms, signal).catch(() => undefined);
  }

  #refuse(error: EaselError): void {
    this.#end();
    this.#become('refused', error);
  }

  #become(state: ConnectionState, error?: EaselError): void {
    if (state === this.state) return;
    this.state = state;
    this.#user.became(state, error);
  }
}
