/** What all parts of the panel share: who looks, what can be done, and how it is told. */
import { EaselError } from '../page/errors.ts';
import type { Comment } from '../page/wire.ts';
import { TEXT } from './strings.ts';
import type { Visitor } from './visitor.ts';

export interface Draft {
  readonly content: string;
  /** Undefined where nobody is asked for it. */
  readonly authorName: string | undefined;
}

export interface Ui {
  readonly visitor: Visitor;
  reply(root: Comment, draft: Draft): Promise<void>;
  edit(comment: Comment, content: string): Promise<void>;
  remove(comment: Comment): Promise<void>;
  resolve(root: Comment, resolved: boolean): Promise<void>;
  react(comment: Comment, emoji: string): Promise<void>;
  /** Scrolls to the passage; false where it is not on the page. */
  show(root: Comment): boolean;
  signIn(): void;
  /** In a moment, by whatever reads the page aloud. */
  say(text: string): void;
  /** What was asked for was not done. */
  fail(error: unknown): void;
}

export function nameOf({ authorName }: Comment): string {
  return authorName ?? TEXT.nobody;
}

export function messageOf(error: unknown): string {
  return error instanceof EaselError ? (TEXT.errors[error.code] ?? error.message) : String(error);
}

/** Runs what a control is for; the control is not good for anything meanwhile. */
export async function busy(control: HTMLElement, run: () => Promise<void>, failed: (error: unknown) => void): Promise<void> {
  if (control.getAttribute('aria-disabled') === 'true') return;
  // Not `disabled`: that would take the focus away.
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

// Dear to make.
let format: Intl.RelativeTimeFormat | undefined;

export function timeAgo(iso: string): string {
  const seconds = (Date.parse(iso) - Date.now()) / 1000;
  format ??= new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
  for (const [unit, size] of UNITS) if (Math.abs(seconds) >= size) return format.format(Math.trunc(seconds / size), unit);
  return format.format(0, 'second');
}
