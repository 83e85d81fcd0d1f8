/** What is around every screen: sidebar, top bar, notices of the connection, the palette, and where files are dropped. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { DropZone } from '../publish/drop-zone.tsx';
import { PublishPanel } from '../publish/publish-panel.tsx';
import { openPublish } from '../publish/state.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { OfflineBanner } from '../ui/offline.tsx';
import { SiteBanner } from '../ui/site-banner.tsx';
import { words } from '../words/words.ts';
import { AccountMenu } from './account-menu.tsx';
import { BellLink } from './bell.tsx';
import { closeDrawer, isDrawerOpen, leaveDrawer, openDrawer, useDrawerFocus } from './drawer.ts';
import { isPaletteOpen, Palette } from './palette.tsx';
import { PlannedDialog } from './planned-dialog.tsx';
import { Sidebar } from './sidebar.tsx';

/** Single keys, where nobody is typing. */
function onKey(event: KeyboardEvent): void {
  // In a dialog that was opened from the drawer it closes the dialog.
  if (event.key === 'Escape' && isDrawerOpen.value && document.querySelector('dialog[open]') === null) closeDrawer();
  const isPalette = event.key.toLowerCase() === 'k' && (event.metaKey || event.ctrlKey);
  const target = event.target instanceof Element ? event.target : null;
  const isTyping = target?.closest('input, textarea, select, [contenteditable], dialog, [role="menu"]') !== null;
  const isSlash = event.key === '/' && !isTyping && !event.metaKey && !event.ctrlKey && !event.altKey;
  if (!isPalette && !isSlash) return;
  event.preventDefault();
  isPaletteOpen.value = true;
}

export function Shell({ children }: { readonly children: ComponentChildren }) {
  const { url } = useLocation();
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useLayoutEffect(() => {
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  const [path] = url.split('?');
  // At once: later it would take the focus from whatever somebody chose meanwhile.
  useLayoutEffect(() => {
    leaveDrawer();
    if (isFirst.current) {
      isFirst.current = false;
      return;
    }
    // A new screen begins at its top, for the eyes and for screen readers. The parts of one page keep the focus on their tab.
    if (document.activeElement?.closest('[role="tablist"], .tabs') === null) main.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [path]);
  useDrawerFocus();
  const { app, nav, palette } = words.value;
  return (
    <>
      <a class="skip" href="#content">
        {app.skip}
      </a>
      <div class={`shell${isDrawerOpen.value ? ' has-drawer' : ''}`}>
        <Sidebar onClose={closeDrawer} />
        {isDrawerOpen.value && <button type="button" class="veil" aria-hidden="true" tabIndex={-1} onClick={closeDrawer} />}
        <div class="stage" inert={isDrawerOpen.value}>
          <SiteBanner />
          <header class="topbar">
            <IconButton icon="menu" class="drawer-button" label={nav.open} aria-expanded={isDrawerOpen.value} onClick={openDrawer} />
            <button type="button" class="search-button" onClick={() => (isPaletteOpen.value = true)}>
              <Icon name="search" size={16} />
              <span class="grow">{palette.open}</span>
              <kbd>{navigator.platform.startsWith('Mac') ? '⌘K' : 'Ctrl K'}</kbd>
            </button>
            <span class="grow" />
            <Button look="main" icon="up" onClick={() => openPublish()}>
              {nav.publish}
            </Button>
            <BellLink />
            <AccountMenu />
          </header>
          <OfflineBanner />
          <main id="content" class="content" ref={main} tabIndex={-1}>
            {children}
          </main>
        </div>
      </div>
      {isPaletteOpen.value && <Palette />}
      <DropZone />
      <PublishPanel />
      <PlannedDialog />
    </>
  );
}
