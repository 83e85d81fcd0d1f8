/** The sidebar on a narrow window: a drawer that holds the focus while it is open, and gives it back to its button. */
import { type Signal, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

/** As in shell.css: from this width on the sidebar stands beside the screen. */
const WIDE = '(min-width: 60.0625rem)';
const FOCUSABLE = 'a[href], button:not([disabled]), input:not([disabled]), select:not([disabled])';

export const isDrawerOpen: Signal<boolean> = signal(false);

export function openDrawer(): void {
  isDrawerOpen.value = true;
}

/** A link of the drawer closes it too, and then the focus goes to the new screen. */
export function leaveDrawer(): void {
  isDrawerOpen.value = false;
}

export function closeDrawer(): void {
  if (!isDrawerOpen.peek()) return;
  isDrawerOpen.value = false;
  // What is behind the drawer cannot take the focus while it is inert, which it is until the next drawing.
  document.querySelector('.stage')?.removeAttribute('inert');
  document.querySelector<HTMLElement>('.drawer-button')?.focus();
}

function focusable(): readonly HTMLElement[] {
  const all = document.querySelectorAll<HTMLElement>(`.sidebar :is(${FOCUSABLE})`);
  return [...all].filter((one) => one.checkVisibility());
}

function takeFocus(): void {
  // It may have been closed before this is called.
  if (!isDrawerOpen.peek()) return;
  const isInside = document.activeElement?.closest('.sidebar, dialog') ?? null;
  if (isInside === null) focusable()[0]?.focus();
}

/** The first and the last thing in the drawer are neighbours for Tab. */
function onTab(event: KeyboardEvent): void {
  if (event.key !== 'Tab') return;
  const all = focusable();
  const [first, last] = [all[0], all.at(-1)];
  const at = document.activeElement;
  const isInside = all.some((one) => one === at);
  const target = event.shiftKey ? (at === first || !isInside ? last : undefined) : at === last || !isInside ? first : undefined;
  if (target === undefined) return;
  event.preventDefault();
  target.focus();
}

/** Keeps the focus in the open drawer; a dialog that is opened from it keeps its own. */
export function useDrawerFocus(): void {
  const isOpen = isDrawerOpen.value;
  useEffect(() => {
    if (!isOpen) return undefined;
    const onKey = (event: KeyboardEvent) => {
      if (document.querySelector('dialog[open]') === null) onTab(event);
    };
    const wide = matchMedia(WIDE);
    // The window may have become wide before it was listened to.
    if (wide.matches) {
      leaveDrawer();
      return undefined;
    }
    addEventListener('keydown', onKey);
    wide.addEventListener('change', leaveDrawer);
    takeFocus();
    // What is not drawn yet cannot take the focus.
    const frame = requestAnimationFrame(takeFocus);
    addEventListener('transitionend', takeFocus);
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener('transitionend', takeFocus);
      removeEventListener('keydown', onKey);
      wide.removeEventListener('change', leaveDrawer);
    };
  }, [isOpen]);
}
