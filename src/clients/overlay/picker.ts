/** The button beside a selection, and the selected range. */
import type { Anchors } from './anchors.ts';
import { button, h, icon } from './element.ts';
import type { Passage } from './page-text.ts';
import { TEXT } from './strings.ts';

/** The button appears once the selection has not changed for this time. */
const REST_MS = 200;
const MARGIN_PX = 8;
/** No button appears for selections in these elements. */
const WRITTEN_IN = 'input,textarea,select,[contenteditable]:not([contenteditable="false"])';

export const BUBBLE = 'M4 5h16v11H9l-5 4z';

export interface Picked {
  readonly passage: Passage;
  readonly range: Range;
}

export class Picker {
  readonly element: HTMLButtonElement;
  readonly #anchors: Anchors;
  readonly #isWanted: () => boolean;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isPointing = false;

  constructor(deps: { readonly anchors: Anchors; readonly isWanted: () => boolean; readonly pick: () => void }) {
    this.#anchors = deps.anchors;
    this.#isWanted = deps.isWanted;
    this.element = button(
      '',
      deps.pick,
      { class: 'pick', hidden: true, 'aria-label': TEXT.onSelection },
      icon(BUBBLE),
      h('span', {}, TEXT.commentOnSelection),
    );
    // Pressing the button would clear the selection before the click.
    this.element.addEventListener('pointerdown', (event) => event.preventDefault());
    this.element.addEventListener('mousedown', (event) => event.preventDefault());
    document.addEventListener('selectionchange', () => this.#later());
    addEventListener('scroll', () => this.#later(), { capture: true, passive: true });
    addEventListener('pointerdown', () => this.#point(true), true);
    for (const type of ['pointerup', 'pointercancel']) addEventListener(type, () => this.#point(false), true);
  }

  /** The selected range; undefined if no text of the page is selected. */
  picked(): Picked | undefined {
    const range = this.#range();
    const passage = range && this.#anchors.passage(range);
    return range === undefined || passage === undefined ? undefined : { passage, range: range.cloneRange() };
  }

  #range(): Range | undefined {
    const selection = document.getSelection();
    if (selection === null || selection.isCollapsed || selection.rangeCount === 0) return undefined;
    const range = selection.getRangeAt(0);
    return range.toString().trim() === '' ? undefined : range;
  }

  #point(isPointing: boolean): void {
    this.#isPointing = isPointing;
    this.#later();
  }

  #later(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#offer(), REST_MS);
  }

  #offer(): void {
    const range = this.#range();
    const around = range && elementOf(range.commonAncestorContainer);
    const isOffered =
      range !== undefined &&
      !this.#isPointing &&
      this.#isWanted() &&
      !around?.closest(WRITTEN_IN) &&
      document.body.contains(around ?? null);
    this.element.hidden = !isOffered;
    if (!isOffered || range === undefined) return;
    const end = [...range.getClientRects()].at(-1) ?? range.getBoundingClientRect();
    const { offsetWidth, offsetHeight } = this.element;
    const left = Math.max(MARGIN_PX, Math.min(end.right - offsetWidth / 2, innerWidth - offsetWidth - MARGIN_PX));
    const below = end.bottom + MARGIN_PX;
    const top = below + offsetHeight > innerHeight ? end.top - offsetHeight - MARGIN_PX : below;
    Object.assign(this.element.style, { left: `${left}px`, top: `${Math.max(MARGIN_PX, top)}px` });
  }
}

function elementOf(node: Node): Element | null {
  return node instanceof Element ? node : node.parentElement;
}
