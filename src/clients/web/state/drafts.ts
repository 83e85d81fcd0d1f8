/** What is typed and not saved outlives the screen that is left: it is kept in this window until it is saved or discarded. */
import { useState } from 'preact/hooks';

const DRAFTS_MAX = 100;

/** The latest last; beyond the maximum the oldest goes. */
const drafts = new Map<string, unknown>();

/** `empty`: what there is without a draft; setting this very value ends it. */
export function useDraft<T>(key: string, empty: T): readonly [T, (next: T) => void] {
  const [typed, setTyped] = useState<T>(drafts.has(key) ? (drafts.get(key) as T) : empty);
  const keep = (next: T) => {
    drafts.delete(key);
    if (next !== empty) drafts.set(key, next);
    const [oldest] = drafts.keys();
    if (drafts.size > DRAFTS_MAX && oldest !== undefined) drafts.delete(oldest);
    setTyped(next);
  };
  return [typed, keep];
}
