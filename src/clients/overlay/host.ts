/** The only element that the overlay adds to the page. Everything is in its shadow tree, so the page's styles do not apply. */
import { STYLE } from './style.ts';

export const HOST_NAME = 'easel-comments';

/** These events do not leave the overlay, because the page's shortcuts, menus that close on outside clicks and focus traps would react to them. */
const OWN_EVENTS =
  'keydown keyup keypress beforeinput input paste copy cut click dblclick mousedown mouseup pointerdown pointerup touchstart touchend wheel focusin focusout';
/** How often the element is added again after the page removes it. */
const RETURNS_MAX = 20;

export class Host {
  readonly root: ShadowRoot;
  /** Container of everything that the overlay shows. */
  readonly all: HTMLElement;
  readonly #element: HTMLElement;

  constructor() {
    this.#element = document.createElement(HOST_NAME);
    this.root = this.#element.attachShadow({ mode: 'open' });
    this.all = document.createElement('div');
    this.all.className = 'all';
    this.all.lang = 'en';
    this.root.append(this.all);
    addStyle(this.root);
    for (const type of OWN_EVENTS.split(' ')) this.root.addEventListener(type, (event) => event.stopPropagation());
  }

  /** Appended to the root element and not to the body, because pages empty the body and frameworks compare it with their own tree. */
  mount(): void {
    let returns = 0;
    this.#show();
    new MutationObserver(() => {
      if (this.#element.isConnected || returns >= RETURNS_MAX) return;
      returns += 1;
      this.#show();
    }).observe(document, { childList: true, subtree: true });
  }

  contains(target: EventTarget | null): boolean {
    return target === this.#element;
  }

  #show(): void {
    document.documentElement.append(this.#element);
    // The popover top layer is above everything; browsers without it use `z-index`.
    if (!('showPopover' in this.#element)) return;
    this.#element.popover = 'manual';
    this.#element.showPopover();
  }
}

/** A constructed style sheet, because a content security policy can forbid inline styles. */
function addStyle(root: ShadowRoot): void {
  if ('adoptedStyleSheets' in root) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
    root.adoptedStyleSheets = [sheet];
    return;
  }
  const style = document.createElement('style');
  style.textContent = STYLE;
  (root as ShadowRoot).append(style);
}
