/** Shows on the page which text is commented on, and leaves its elements as they are: by the browser's own highlights, else by boxes above the text. */

export interface Marks {
  paint(ranges: readonly Range[], current: Range | undefined): void;
}

const ALL = 'easel-comment';
const CURRENT = 'easel-comment-current';
/** Underlined too, for whom the colours are alike. */
const STYLE = `::highlight(${ALL}){background-color:rgb(255 205 40/.24);text-decoration:underline 2px rgb(196 132 0)}::highlight(${CURRENT}){background-color:rgb(255 180 0/.42);text-decoration:underline 3px rgb(176 96 0)}`;

/** `layer`: of the overlay, as large as the window. */
export function marksOf(layer: HTMLElement): Marks {
  return 'highlights' in CSS && 'adoptedStyleSheets' in document ? nativeMarks() : new BoxMarks(layer);
}

function nativeMarks(): Marks {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLE);
  return {
    paint(ranges, current) {
      // A page may set its own and drop others.
      if (!document.adoptedStyleSheets.includes(sheet)) document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
      CSS.highlights.set(ALL, new Highlight(...ranges));
      const one = new Highlight(...(current === undefined ? [] : [current]));
      one.priority = 1;
      CSS.highlights.set(CURRENT, one);
    },
  };
}

/** Of one long passage; more would not be seen at once. */
const BOXES_MAX = 400;

class BoxMarks implements Marks {
  readonly #layer: HTMLElement;
  #ranges: readonly Range[] = [];
  #current: Range | undefined;
  #isWaiting = false;

  constructor(layer: HTMLElement) {
    this.#layer = layer;
    // Also of what scrolls within the page.
    addEventListener('scroll', () => this.#later(), { capture: true, passive: true });
    addEventListener('resize', () => this.#later());
  }

  paint(ranges: readonly Range[], current: Range | undefined): void {
    this.#ranges = ranges;
    this.#current = current;
    this.#draw();
  }

  #later(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    requestAnimationFrame(() => {
      this.#isWaiting = false;
      this.#draw();
    });
  }

  #draw(): void {
    const boxes: HTMLElement[] = [];
    const all = this.#current === undefined ? this.#ranges : [...this.#ranges, this.#current];
    for (const range of all) {
      for (const { left, top, width, height } of range.getClientRects()) {
        if (boxes.length >= BOXES_MAX || width === 0 || top > innerHeight || top + height < 0) continue;
        const box = document.createElement('div');
        box.className = range === this.#current ? 'mark current' : 'mark';
        Object.assign(box.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
        boxes.push(box);
      }
    }
    this.#layer.replaceChildren(...boxes);
  }
}
