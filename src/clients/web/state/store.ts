/**
 * What the screens show, by key. A screen asks for a key with the way to load it; a change says which keys it has touched, and they are
 * loaded again where somebody looks at them, in this window and in the others of this browser. What was loaded stays visible meanwhile.
 */
import { type Signal, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { type Problem, problemOf } from '../api/problem.ts';

export interface Shown<T> {
  /** The last that was loaded, also while it is loaded again or could not be. */
  readonly data: T | undefined;
  readonly problem: Problem | undefined;
  readonly isLoading: boolean;
}

interface Entry<T> {
  readonly shown: Signal<Shown<T>>;
  load: () => Promise<T>;
  watchers: number;
  isStale: boolean;
  /** The load whose answer counts; an earlier one that ends later is dropped. */
  turn: number;
}

const KEYS_MAX = 200;
const NOTHING: Shown<never> = { data: undefined, problem: undefined, isLoading: true };

const entries = new Map<string, Entry<unknown>>();
const otherWindows = 'BroadcastChannel' in globalThis ? new BroadcastChannel('easel.changes') : undefined;

function entryOf<T>(key: string, load: () => Promise<T>): Entry<T> {
  const known = entries.get(key) as Entry<T> | undefined;
  if (known !== undefined) {
    known.load = load;
    return known;
  }
  for (const [name, { watchers }] of entries) if (entries.size >= KEYS_MAX && watchers === 0) entries.delete(name);
  const made: Entry<T> = { shown: signal<Shown<T>>(NOTHING), load, watchers: 0, isStale: true, turn: 0 };
  entries.set(key, made as unknown as Entry<unknown>);
  return made;
}

async function refresh<T>(entry: Entry<T>): Promise<void> {
  entry.turn += 1;
  const { turn } = entry;
  entry.isStale = false;
  entry.shown.value = { ...entry.shown.peek(), isLoading: true };
  try {
    const data = await entry.load();
    if (turn === entry.turn) entry.shown.value = { data, problem: undefined, isLoading: false };
  } catch (error) {
    if (turn !== entry.turn) return;
    const problem = problemOf(error);
    entry.isStale = true;
    // What the person may not see any more is not shown any longer.
    const data = problem.isMissing || problem.isForbidden ? undefined : entry.shown.peek().data;
    entry.shown.value = { data, problem, isLoading: false };
  }
}

export interface Loaded<T> extends Shown<T> {
  reload(): void;
  /** Puts in place of what is shown what `more` makes of it, unless it was loaded anew meanwhile. */
  extend(more: (shown: T) => Promise<T>): Promise<void>;
}

async function extend<T>(entry: Entry<T>, more: (shown: T) => Promise<T>): Promise<void> {
  const { turn } = entry;
  const { data } = entry.shown.peek();
  if (data === undefined) return;
  const next = await more(data);
  if (turn === entry.turn) entry.shown.value = { ...entry.shown.peek(), data: next };
}

/** Shows what has this key, and loads it where it is not known or no longer fresh. */
export function useLoaded<T>(key: string, load: () => Promise<T>): Loaded<T> {
  const entry = useMemo(() => entryOf(key, load), [key]);
  useEffect(() => {
    entry.watchers += 1;
    if (entry.isStale) void refresh(entry);
    return () => {
      entry.watchers -= 1;
    };
  }, [entry]);
  return { ...entry.shown.value, reload: () => void refresh(entry), extend: (more) => extend(entry, more) };
}

function markStale(prefixes: readonly string[]): void {
  for (const [key, entry] of entries) {
    if (!prefixes.some((prefix) => key.startsWith(prefix))) continue;
    entry.isStale = true;
    if (entry.watchers > 0) void refresh(entry);
  }
}

/** What has keys with these beginnings is loaded anew when it is looked at the next time, and not now: it may not be seen any more. */
export function forget(...prefixes: string[]): void {
  for (const [key, entry] of entries) if (prefixes.some((prefix) => key.startsWith(prefix))) entry.isStale = true;
}

/** Says that what has keys with these beginnings has changed. */
export function changed(...prefixes: string[]): void {
  markStale(prefixes);
  otherWindows?.postMessage(prefixes);
}

/** Changes what is shown before the server has answered; the answer of the call undoes it. */
export function showAtOnce<T>(prefix: string, change: (data: T) => T): () => void {
  const before: (() => void)[] = [];
  for (const [key, entry] of entries) {
    const { data } = entry.shown.peek();
    if (!key.startsWith(prefix) || data === undefined) continue;
    // An answer that is on its way does not know of the change.
    entry.turn += 1;
    entry.isStale = true;
    entry.shown.value = { ...entry.shown.peek(), data: change(data as T) };
    before.push(() => {
      entry.turn += 1;
      entry.shown.value = { ...entry.shown.peek(), data };
    });
  }
  return () => {
    for (const undo of before) undo();
  };
}

/** Loads again what is looked at: after a pause of this window, and when the network is back. */
export function watchWindow(): void {
  const all = () => {
    if (document.visibilityState === 'visible') markStale(['']);
  };
  document.addEventListener('visibilitychange', all);
  addEventListener('online', all);
  otherWindows?.addEventListener('message', ({ data }) => {
    if (Array.isArray(data)) markStale(data.filter((prefix) => typeof prefix === 'string'));
  });
}
