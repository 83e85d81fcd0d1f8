/** Messages between the service and a thread for scripts. */

export interface ScriptTask {
  readonly source: string;
  /** JSON. */
  readonly params: string;
  readonly wallMsMax: number;
  /** The thread writes the output of the script here, so that it is still there when the thread is killed. */
  readonly output: SharedArrayBuffer;
}

export type ToThread =
  | { readonly kind: 'run'; readonly task: ScriptTask }
  /** `text` is the JSON of an answer. */
  | { readonly kind: 'answer'; readonly call: number; readonly text: string };

export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'call'; readonly call: number; readonly of: 'data' | 'fetch'; readonly head: string; readonly body: string }
  | { readonly kind: 'done'; readonly end: ScriptEnd };

/** How a script ended, as its thread sees it. */
export type ScriptEnd =
  /** JSON, or null where the script returned nothing. */
  { readonly value: string | null } | { readonly error: ScriptError };

export type ScriptErrorCode = 'SCRIPT_ERROR' | 'SCRIPT_TIMEOUT' | 'SCRIPT_MEMORY' | 'SCRIPT_STALLED' | 'SCRIPT_CANCELED' | 'SCRIPT_SYNTAX';

export interface ScriptError {
  readonly code: ScriptErrorCode;
  readonly message: string;
  /** Of the script, from 1. */
  readonly line?: number;
}

export function timedOut(wallMsMax: number): ScriptError {
  return { code: 'SCRIPT_TIMEOUT', message: `The script took longer than ${wallMsMax / 1000} seconds, waiting included.` };
}
