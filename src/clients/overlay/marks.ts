/** Marks commented text without changing the page's elements: with CSS highlights, or with boxes above the text in browsers without them. */

export interface Marks {
  paint(ranges: readonly Range[], current: Range | undefined): void;
}

const ALL = 'easel-comment';
const CURRENT = 'easel-comment-current';
/** Underlined as well, for people who cannot tell the colours apart. */
const STYLE = `::highlight(${ALL}){background-color:rgb(255 205 40/.24);text-decoration:underline 2px rgb(196 132 0)}::highlight(${CURRENT}){background-color:rgb(255 180 0/.42);text-decoration:underline 3px rgb(176 96 0)}`;

/** `layer`: an element of the overlay that covers the window. */
export function marksOf(layer: HTMLElement): Marks {
  return 'highlights' in CSS && 'adoptedStyleSheets' in document ? nativeMarks() : new BoxMarks(layer);
}

function nativeMarks(): Marks {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLE);
  return {
    paint(ranges, current) {
      // The page may replace the list of adopted style sheets.
      if (!document.adoptedStyleSheets.includes(sheet)) document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
      CSS.highlights.set(ALL, new Highlight(...ranges));
      const one = new Highlight(...(current === undefined ? [] : [current]));
      one.priority = 1;
      CSS.highlights.set(CURRENT, one);
    },
  };
}

/** Maximum number of boxes for one passage. */
const BOXES_MAX = 400;

class BoxMarks implements Marks {
  readonly #layer: HTMLElement;
  #ranges: readonly Range[] = [];
  #current: Range | undefined;
  #isWaiting = false;

  constructor(layer: HTMLElement) {
    this.#layer = layer;
    // Capture also gets the scroll events of elements within the page.
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
