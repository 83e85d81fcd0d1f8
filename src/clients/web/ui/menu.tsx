/** A button that opens a menu: a native popover, which closes by itself, placed beside its button. Arrow keys move, letters jump. */
import { autoUpdate, computePosition, flip, offset, type Placement, shift } from '@floating-ui/dom';
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Icon, type IconName } from './icon.tsx';

export type MenuItem =
  | {
      readonly kind?: undefined;
      readonly label: string;
      readonly icon?: IconName;
      readonly run: () => void;
      readonly isDanger?: boolean;
      readonly hint?: string;
    }
  | {
      readonly kind: 'link';
      readonly label: string;
      readonly icon?: IconName;
      readonly href: string;
      readonly opensNew?: boolean;
      readonly isDownload?: boolean;
    }
  | { readonly kind: 'choice'; readonly label: string; readonly icon?: IconName; readonly isChosen: boolean; readonly run: () => void }
  | { readonly kind: 'heading'; readonly label: string }
  | { readonly kind: 'line' };

interface MenuProps {
  readonly label: string;
  /** Asked when the menu opens, so that a list of many menus costs nothing. */
  readonly items: () => readonly MenuItem[];
  readonly class?: string;
  readonly placement?: Placement;
  readonly children?: ComponentChildren;
}

export function Menu({ label, items, class: look = 'btn-icon', placement = 'bottom-end', children }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  return (
    <>
      <button
        type="button"
        ref={button}
        class={look}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        aria-label={label}
        title={children === undefined ? label : undefined}
        onClick={() => setOpen(!isOpen)}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown') return;
          event.preventDefault();
          setOpen(true);
        }}
      >
        {children ?? <Icon name="more" />}
      </button>
      {isOpen && <MenuList id={id} label={label} items={items()} anchor={button} placement={placement} onClosed={() => setOpen(false)} />}
    </>
  );
}

interface MenuListProps {
  readonly id: string;
  readonly label: string;
  readonly items: readonly MenuItem[];
  readonly anchor: { readonly current: HTMLElement | null };
  readonly placement: Placement;
  readonly onClosed: () => void;
}

function MenuList({ id, label, items, anchor, placement, onClosed }: MenuListProps) {
  const list = useRef<HTMLDivElement>(null);
  // Before the next key, which belongs to the menu.
  useLayoutEffect(() => {
    const shown = list.current;
    const from = anchor.current;
    if (shown === null || from === null) return undefined;
    shown.showPopover();
    const place = async () => {
      const middleware = [offset(6), flip(), shift({ padding: 8 })];
      const { x, y } = await computePosition(from, shown, { placement, strategy: 'fixed', middleware });
      shown.style.left = `${x}px`;
      shown.style.top = `${y}px`;
    };
    const stop = autoUpdate(from, shown, () => void place());
    const first = shown.querySelector<HTMLElement>('[aria-checked="true"], [role^="menuitem"]');
    first?.focus({ preventScroll: true });
    return stop;
  }, [anchor, placement]);

  const close = (refocus: boolean) => {
    if (refocus) anchor.current?.focus();
    onClosed();
  };
  return (
    <div
      ref={list}
      id={id}
      class="menu"
      role="menu"
      tabIndex={-1}
      aria-label={label}
      popover="auto"
      onToggle={(event) => {
        if (event.newState === 'closed') onClosed();
      }}
      onKeyDown={(event) => {
        if (event.key === 'Tab') return close(true);
        if (event.key === 'Escape') {
          event.preventDefault();
          event.stopPropagation();
          return close(true);
        }
        moveFocus(list.current, event);
      }}
    >
      {items.map((item, at) => (
        <Item key={at} item={item} onDone={() => close(true)} />
      ))}
    </div>
  );
}

function Item({ item, onDone }: { readonly item: MenuItem; readonly onDone: () => void }) {
  if (item.kind === 'line') return <hr class="menu-line" />;
  if (item.kind === 'heading') return <div class="menu-heading">{item.label}</div>;
  const icon = <span class="menu-icon">{item.icon && <Icon name={item.icon} />}</span>;
  if (item.kind === 'link') {
    return (
      <a
        class="menu-item"
        role="menuitem"
        tabIndex={-1}
        href={item.href}
        {...(item.opensNew && { target: '_blank', rel: 'noopener' })}
        {...(item.isDownload && { download: '' })}
        onClick={onDone}
      >
        {icon}
        {item.label}
      </a>
    );
  }
  const isChoice = item.kind === 'choice';
  return (
    <button
      type="button"
      class={`menu-item${!isChoice && item.isDanger ? ' is-danger' : ''}`}
      role={isChoice ? 'menuitemradio' : 'menuitem'}
      tabIndex={-1}
      {...(isChoice && { 'aria-checked': item.isChosen })}
      onClick={() => {
        onDone();
        item.run();
      }}
    >
      {icon}
      <span class="menu-label">{item.label}</span>
      {isChoice && item.isChosen && <Icon name="check" size={16} />}
      {!isChoice && item.hint && <span class="menu-hint">{item.hint}</span>}
    </button>
  );
}

function moveFocus(list: HTMLElement | null, event: KeyboardEvent): void {
  const items = [...(list?.querySelectorAll<HTMLElement>('[role^="menuitem"]') ?? [])];
  const at = items.indexOf(document.activeElement as HTMLElement);
  const target = {
    ArrowDown: items[(at + 1) % items.length],
    ArrowUp: items[(at - 1 + items.length) % items.length],
    Home: items[0],
    End: items.at(-1),
  }[event.key];
  const letter = event.key.length === 1 && !event.ctrlKey && !event.metaKey && event.key !== ' ' ? event.key.toLowerCase() : undefined;
  const begins = (item: HTMLElement) =>
    item.textContent
      ?.trim()
      .toLowerCase()
      .startsWith(letter ?? '\n') ?? false;
  const next = target ?? [...items.slice(at + 1), ...items.slice(0, at + 1)].find(begins);
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}
