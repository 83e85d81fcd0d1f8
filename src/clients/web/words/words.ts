/** The catalogue in use. English is part of the app; the other is loaded when it is chosen. */
import { signal } from '@preact/signals';
import { type Locale, rememberedLocale, rememberLocale } from '../state/prefs.ts';
import { en, type Words } from './en.ts';

export const words = signal<Words>(en);

export const LOCALES: readonly { readonly id: Locale; readonly name: string }[] = [
  { id: 'en', name: 'English' },
  { id: 'es', name: 'Español' },
];

export function localeAtStart(): Locale {
  return rememberedLocale() ?? (navigator.language.startsWith('es') ? 'es' : 'en');
}

export async function speak(locale: Locale): Promise<void> {
  words.value = locale === 'es' ? (await import('./es.ts')).es : en;
  document.documentElement.lang = locale;
}

export async function chooseLocale(locale: Locale): Promise<void> {
  await speak(locale);
  rememberLocale(locale);
}
