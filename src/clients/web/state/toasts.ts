/** Short messages at the edge of the window: what was done, with a way back, or what has failed. */
import { signal } from '@preact/signals';
import { problemOf } from '../api/problem.ts';
import { type ProblemWords, problemWords } from '../words/problems.ts';

export interface Toast {
  readonly id: number;
  readonly kind: 'done' | 'failed';
  readonly text: string;
  readonly action?: { readonly label: string; readonly run: () => void } | undefined;
  /** The request to write to support about. */
  readonly faultOf?: string | undefined;
  /** Where something can be done about it. */
  readonly link?: ProblemWords['link'];
}

const SHOWN_MS = 6000;
const TOASTS_MAX = 3;

export const toasts = signal<readonly Toast[]>([]);
let lastId = 0;

function show(toast: Omit<Toast, 'id'>): void {
  lastId += 1;
  const id = lastId;
  toasts.value = [...toasts.peek(), { ...toast, id }].slice(-TOASTS_MAX);
  // A failure stays until it is closed: it may have to be read twice.
  if (toast.kind === 'done') setTimeout(() => closeToast(id), SHOWN_MS);
}

export function closeToast(id: number): void {
  toasts.value = toasts.peek().filter((toast) => toast.id !== id);
}

export function tell(text: string, action?: Toast['action']): void {
  show({ kind: 'done', text, action });
}

export function tellProblem(error: unknown): void {
  const problem = problemOf(error);
  const { title, text, link } = problemWords(problem);
  show({ kind: 'failed', text: text === '' ? title : `${title} ${text}`, link, faultOf: problem.faultOf });
}

/** Takes back what is shown already of a change that fails. */
export async function undoing<T>(undo: () => void, change: Promise<T>): Promise<T> {
  try {
    return await change;
  } catch (error) {
    undo();
    throw error;
  }
}

/** Makes a change that is shown before it is made; where it fails, `undo` takes it back and the reason is told. */
export async function optimistic<T>(undo: () => void, change: () => Promise<T>): Promise<T | undefined> {
  try {
    return await undoing(undo, change());
  } catch (error) {
    tellProblem(error);
    return undefined;
  }
}
