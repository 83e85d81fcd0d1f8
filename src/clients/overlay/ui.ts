/** The interface that all parts of the panel use: the visitor, the actions and the announcements. */
import { EaselError } from '../page/errors.ts';
import type { Comment } from '../page/wire.ts';
import { TEXT } from './strings.ts';
import type { Visitor } from './visitor.ts';

export interface Draft {
  readonly content: string;
  /** Undefined if the form has no name field. */
  readonly authorName: string | undefined;
}

export interface Ui {
  readonly visitor: Visitor;
  reply(root: Comment, draft: Draft): Promise<void>;
  edit(comment: Comment, content: string): Promise<void>;
  remove(comment: Comment): Promise<void>;
  resolve(root: Comment, resolved: boolean): Promise<void>;
  react(comment: Comment, emoji: string): Promise<void>;
  /** Scrolls to the passage; false if it is not on the page. */
  show(root: Comment): boolean;
  signIn(): void;
  /** Announces a text to screen readers. */
  say(text: string): void;
  /** Shows the error of an action. */
  fail(error: unknown): void;
}

/** Limits a field in code points, as the server counts them; `maxlength` counts an emoji as two. */
export function atMost<F extends HTMLInputElement | HTMLTextAreaElement>(field: F, charsMax: number): F {
  field.addEventListener('input', (event) => {
    if (field.value.length <= charsMax || (event as InputEvent).isComposing) return;
    const chars = [...field.value];
    if (chars.length > charsMax) field.value = chars.slice(0, charsMax).join('');
  });
  return field;
}

export function nameOf({ authorName }: Comment): string {
  return authorName ?? TEXT.nobody;
}

export function messageOf(error: unknown): string {
  return error instanceof EaselError ? (TEXT.errors[error.code] ?? error.message) : String(error);
}

/** Runs the action of a control; the control is inactive until it ends. */
export async function busy(control: HTMLElement, run: () => Promise<void>, failed: (error: unknown) => void): Promise<void> {
  if (control.getAttribute('aria-disabled') === 'true') return;
  // `disabled` would remove the focus.
  control.setAttribute('aria-disabled', 'true');
  try {
    await run();
  } catch (error) {
    failed(error);
  } finally {
    control.removeAttribute('aria-disabled');
  }
}

const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

// Expensive to construct, so made once and only when needed.
let format: Intl.RelativeTimeFormat | undefined;

export function timeAgo(iso: string): string {
  const seconds = (Date.parse(iso) - Date.now()) / 1000;
  format ??= new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
  for (const [unit, size] of UNITS) if (Math.abs(seconds) >= size) return format.format(Math.trunc(seconds / size), unit);
  return format.format(0, 'second');
}
