/** What is being published: nothing, files that wait for a word, an upload, its end. */
import { signal } from '@preact/signals';
import type { Artifact } from '../api/client.ts';
import { type Problem, problemOf } from '../api/problem.ts';
import { changed } from '../state/store.ts';
import { busyWith } from '../state/window.ts';
import { words } from '../words/words.ts';
import type { Gathered } from './gather.ts';
import { NotPublishable } from './given.ts';
import { type Progress, type Published, sendFiles, type Target } from './send.ts';

export type Publishing =
  | { readonly kind: 'closed' }
  | { readonly kind: 'asking' }
  | { readonly kind: 'reading' }
  | { readonly kind: 'ready'; readonly gathered: Gathered; readonly problem?: Problem }
  | { readonly kind: 'sending'; readonly gathered: Gathered; readonly progress: Progress; readonly stop: AbortController }
  | { readonly kind: 'done'; readonly gathered: Gathered; readonly published: Published };

export const publishing = signal<Publishing>({ kind: 'closed' });

/** The screen that is open says where dropped files go. */
export const here = signal<{ readonly artifact?: Artifact; readonly workspace?: string; readonly folderId?: string }>({});
/** Where this publish goes: what the screen said when it began. */
export const target = signal<typeof here.value>({});

export function openPublish(): void {
  target.value = here.peek();
  publishing.value = { kind: 'asking' };
}

export function closePublish(): void {
  const now = publishing.peek();
  if (now.kind === 'sending') now.stop.abort();
  publishing.value = { kind: 'closed' };
  busyWith.value = undefined;
}

/** Reads what was dropped or chosen; what cannot be published is told in the panel. */
export async function takeFiles(gather: () => Promise<Gathered>): Promise<void> {
  if (publishing.peek().kind === 'sending') return;
  if (publishing.peek().kind === 'closed') target.value = here.peek();
  publishing.value = { kind: 'reading' };
  try {
    publishing.value = { kind: 'ready', gathered: await gather() };
  } catch (error) {
    const problem = error instanceof NotPublishable ? error.problem : problemOf(error);
    publishing.value = { kind: 'ready', gathered: { name: '', files: [], entrypoint: undefined, pages: [], leftOut: 0 }, problem };
  }
}

export async function startPublish(gathered: Gathered, to: Target): Promise<void> {
  const stop = new AbortController();
  const show = (progress: Progress) => {
    if (stop.signal.aborted) return;
    publishing.value = { kind: 'sending', gathered, progress, stop };
    const percent = progress.bytesAll === 0 ? 0 : Math.floor((100 * progress.bytesSent) / progress.bytesAll);
    busyWith.value = progress.step === 'sending' ? words.value.publish.percent(percent) : '…';
  };
  show({ step: 'hashing', bytesSent: 0, bytesAll: 0 });
  try {
    const published = await sendFiles(gathered, to, { onProgress: show, signal: stop.signal });
    if (!stop.signal.aborted) publishing.value = { kind: 'done', gathered, published };
    changed(
      'artifacts:',
      'folders:',
      'account',
      `artifact:${published.artifactId}`,
      `versions:${published.artifactId}`,
      `files:${published.artifactId}`,
      'waiting:',
    );
  } catch (error) {
    if (!stop.signal.aborted) publishing.value = { kind: 'ready', gathered, problem: problemOf(error) };
  } finally {
    busyWith.value = undefined;
  }
}
