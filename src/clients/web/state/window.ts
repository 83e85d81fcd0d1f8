/** What the tab says of its page: a title, and in the icon whether work is under way or the connection is gone. */
import { computed, effect, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

export const isOnline = signal(navigator.onLine);
/** What a publish says of itself, such as "40 %". */
export const busyWith = signal<string | undefined>(undefined);
const title = signal('');

const iconName = computed(() => (isOnline.value ? (busyWith.value === undefined ? 'icon.svg' : 'icon-busy.svg') : 'icon-offline.svg'));

export function useTitle(text: string): void {
  useEffect(() => {
    title.value = text;
  }, [text]);
}

export function keepTab(): void {
  addEventListener('online', () => {
    isOnline.value = true;
  });
  addEventListener('offline', () => {
    isOnline.value = false;
  });
  effect(() => {
    const parts = [busyWith.value, title.value, 'Easel'].filter(Boolean);
    document.title = parts.join(' · ');
  });
  effect(() => {
    document.querySelector('link[rel="icon"]')?.setAttribute('href', `/_app/${iconName.value}`);
  });
}
