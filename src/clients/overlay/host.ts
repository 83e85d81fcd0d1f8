/** The only element that the comments, or the chat box, add to the page. Everything is in its shadow tree, so the page's styles do not apply. */

/** `!important` overrides the page's rules for the element itself. What a page sets of custom properties comes in. */
const BASE_STYLE = `
:host{all:initial!important;position:fixed!important;inset:0!important;z-index:2147483647!important;display:block!important;pointer-events:none!important;direction:ltr!important;unicode-bidi:normal!important}
:host::backdrop{display:none!important}
@media print{:host{display:none!important}}
*,*::before,*::after{box-sizing:border-box}
[hidden]{display:none!important}
.all>*{pointer-events:auto}
.sr{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
`;

/** These events do not leave the element, because the page's shortcuts, menus that close on outside clicks and focus traps would react to them. */
const OWN_EVENTS =
  'keydown keyup keypress beforeinput input paste copy cut click dblclick mousedown mouseup pointerdown pointerup touchstart touchend wheel focusin focusout';
/** How often the element is added again after the page removes it. */
const RETURNS_MAX = 20;

export class Host {
  readonly root: ShadowRoot;
  /** Container of everything that is shown. */
  readonly all: HTMLElement;
  readonly #element: HTMLElement;

  /** `name`: of the element. */
  constructor(name: string, style: string) {
    this.#element = document.createElement(name);
    this.root = this.#element.attachShadow({ mode: 'open' });
    this.all = document.createElement('div');
    this.all.className = 'all';
    this.all.lang = 'en';
    this.root.append(this.all);
    addStyle(this.root, BASE_STYLE + style);
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
function addStyle(root: ShadowRoot, text: string): void {
  if ('adoptedStyleSheets' in root) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    root.adoptedStyleSheets = [sheet];
    return;
  }
  const style = document.createElement('style');
  style.textContent = text;
  (root as ShadowRoot).append(style);
}
