/** What crosses the border between a script's sandbox and its host: strings and numbers only. */

/** Functions of the host. Whatever they are given, the host checks it again. */
export interface Natives {
  /**
   * Begins a call; `head` is the JSON of a `DataHead` or a `FetchHead`, and `body` is apart from it, so that nobody parses it on its way: JSON for
   * the data, empty where there is none. The answer arrives by `answered`.
   */
  send(id: number, kind: CallKind, head: string, body: string): void;
  /** False once the output is full. */
  print(line: string): boolean;
  /** Calls `fired` after a pause. */
  wait(id: number, ms: number): void;
  cancel(id: number): void;
  /** From 0 to below 1. That of QuickJS begins anew with each run, because its state is in the memory that is put back. */
  random(): number;
  /** The script is over. `text` is the JSON of its value, empty where there is none, or of a `Thrown`. */
  finish(kind: 'value' | 'error', text: string): void;
}

/** What the host calls. */
export interface Controls {
  /** `main` is the script as an async function. */
  run(main: () => Promise<unknown>): void;
  /** `text` is the JSON of an `Answer`. */
  answered(id: number, text: string): void;
  fired(id: number): void;
}

export type CallKind = 'data' | 'fetch';

export interface DataHead {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface FetchHead {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the body is one, though it may be empty. */
  readonly hasBody: boolean;
}

export type Answer =
  /** Of the data: its status and its JSON. */
  | { readonly status: number; readonly body: unknown }
  /** Of the outside. */
  | { readonly status: number; readonly text: string; readonly headers: Readonly<Record<string, string>>; readonly url: string }
  | { readonly failure: { readonly code: string; readonly message: string; readonly status: number } };

/** An error that the script did not catch. */
export interface Thrown {
  readonly message: string;
  readonly stack: string;
  readonly isOutOfMemory: boolean;
  /** What QuickJS throws where there is no memory left for an error. */
  readonly isNull: boolean;
}

/** Bounds that the prelude keeps, so that what is over them waits or fails inside the sandbox. The host keeps them as well. */
export interface Bounds {
  readonly callsMax: number;
  readonly callsInFlightMax: number;
  readonly callCharsMax: number;
  readonly timersMax: number;
}
