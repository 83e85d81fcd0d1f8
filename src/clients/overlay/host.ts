/** The one element that the overlay adds to the page. Everything is in its shadow, where the styles of the page do not reach. */
import { STYLE } from './style.ts';

export const HOST_NAME = 'easel-comments';

/** What people do in here is none of the page's business: its shortcuts, its menus that close at a click elsewhere, its dialogs that keep the focus. */
const OWN_EVENTS =
  'keydown keyup keypress beforeinput input paste copy cut click dblclick mousedown mouseup pointerdown pointerup touchstart touchend wheel focusin focusout';
/** A page that does not want it there wins in the end. */
const RETURNS_MAX = 20;

export class Host {
  readonly root: ShadowRoot;
  /** Everything that is shown. */
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

  /** Not into the body, which pages empty and frameworks compare with what they have made. */
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
    // Above everything, where browsers have that; else only as far as `z-index` goes.
    if (!('showPopover' in this.#element)) return;
    this.#element.popover = 'manual';
    this.#element.showPopover();
  }
}

/** As an object, which no policy of the page against inline styles refuses. */
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
