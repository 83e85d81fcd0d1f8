/** What this browser remembers of its reader: colours, language, what was opened last. Where storage is refused, for this window only. */
import { signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';
export type Locale = 'en' | 'es';

interface Opened {
  readonly id: string;
  readonly name: string;
}

const OPENED_MAX = 8;

function read(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch (error) {
    console.debug('nothing is remembered', error);
    return null;
  }
}

function write(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch (error) {
    console.debug('nothing is remembered', error);
  }
}

function themeOf(text: string | null): Theme {
  return text === 'light' || text === 'dark' ? text : 'system';
}

export const theme = signal<Theme>(themeOf(read('easel.theme')));

export function chooseTheme(chosen: Theme): void {
  write('easel.theme', chosen === 'system' ? null : chosen);
  applyTheme(chosen);
}

function applyTheme(chosen: Theme): void {
  theme.value = chosen;
  if (chosen === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
}

export function rememberedLocale(): Locale | null {
  const text = read('easel.locale');
  return text === 'en' || text === 'es' ? text : null;
}

export function rememberLocale(locale: Locale): void {
  write('easel.locale', locale);
}

/** What was opened last, newest first, by the person's id, so that two people on one machine do not see each other's. */
export const opened = signal<readonly Opened[]>([]);

export function readOpened(userId: string): void {
  try {
    const list: unknown = JSON.parse(read(`easel.opened.${userId}`) ?? '[]');
    opened.value = Array.isArray(list) ? list.filter(isOpened).slice(0, OPENED_MAX) : [];
  } catch (error) {
    console.debug('what was opened last is not readable', error);
    opened.value = [];
  }
}

function isOpened(item: unknown): item is Opened {
  return (
    typeof item === 'object' &&
    item !== null &&
    typeof Reflect.get(item, 'id') === 'string' &&
    typeof Reflect.get(item, 'name') === 'string'
  );
}

export function rememberOpened(userId: string, { id, name }: Opened): void {
  const [first] = opened.peek();
  if (first?.id === id && first.name === name) return;
  opened.value = [{ id, name }, ...opened.peek().filter((one) => one.id !== id)].slice(0, OPENED_MAX);
  write(`easel.opened.${userId}`, JSON.stringify(opened.value));
}

export function forgetOpened(userId: string, id: string): void {
  opened.value = opened.peek().filter((one) => one.id !== id);
  write(`easel.opened.${userId}`, JSON.stringify(opened.value));
}

/** The orders of a list of pages, the usual one first. */
export const SORTS = ['-updated_at', 'name', '-created_at'] as const;
export type Sort = (typeof SORTS)[number];

const SORTED_PLACES_MAX = 50;

function readSorts(): ReadonlyMap<string, Sort> {
  try {
    const list: unknown = JSON.parse(read('easel.sort') ?? '[]');
    return new Map(Array.isArray(list) ? list.filter(isSorted).slice(-SORTED_PLACES_MAX) : []);
  } catch (error) {
    console.debug('the orders of lists are not readable', error);
    return new Map();
  }
}

function isSorted(item: unknown): item is [string, Sort] {
  return Array.isArray(item) && typeof item[0] === 'string' && SORTS.some((sort) => sort === item[1]);
}

const sorts = signal(readSorts());

/** The order that was chosen for this place. */
export function sortOf(place: string): Sort {
  return sorts.value.get(place) ?? SORTS[0];
}

/** What was chosen longest ago is forgotten first. */
export function chooseSort(place: string, sort: Sort): void {
  const others = [...sorts.peek()].filter(([one]) => one !== place);
  const kept = sort === SORTS[0] ? others : [...others, [place, sort] as const];
  sorts.value = new Map(kept.slice(-SORTED_PLACES_MAX));
  write('easel.sort', JSON.stringify([...sorts.value]));
}

/** The text of the banner that was dismissed last; pages without the app keep it under the same key. */
export const dismissedBanner = signal<string | null>(read('easel.banner'));

export function dismissBanner(text: string): void {
  write('easel.banner', text);
  dismissedBanner.value = text;
}

export function followOtherWindows(): void {
  addEventListener('storage', ({ key, newValue }) => {
    if (key === 'easel.theme') applyTheme(themeOf(newValue));
    if (key === 'easel.banner') dismissedBanner.value = newValue;
  });
}
