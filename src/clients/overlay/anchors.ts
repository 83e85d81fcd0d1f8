/** Finds the quoted passages on the page, and finds them again after the page changes. */
import type { Comment } from '../page/wire.ts';
import { PageText, type Passage, squashed } from './page-text.ts';

/** Minimum time between two searches, for pages that change all the time. */
const AGAIN_MS = 1000;

type Quoting = Comment & { quote: NonNullable<Comment['quote']> };

export class Anchors {
  readonly #changed: () => void;
  #comments: readonly Quoting[] = [];
  readonly #ranges = new Map<string, Range>();
  /** The quote searched for since the last change of the page, by comment id. */
  readonly #looked = new Map<string, string>();
  #isWaiting = false;

  /** `changed`: passages were found or lost since `watch` was called last. */
  constructor(changed: () => void) {
    this.#changed = changed;
    new MutationObserver(() => this.#later()).observe(document, { childList: true, characterData: true, subtree: true });
  }

  /** Sets the comments whose passages are tracked. */
  watch(comments: readonly Comment[]): void {
    this.#comments = comments.filter(isQuoting);
    const wanted = new Set(this.#comments.map(({ id }) => id));
    for (const id of this.#looked.keys()) if (!wanted.has(id)) this.#looked.delete(id);
    for (const id of this.#ranges.keys()) if (!wanted.has(id)) this.#ranges.delete(id);
    this.#look();
  }

  range(id: string): Range | undefined {
    return this.#ranges.get(id);
  }

  /** The comment whose passage is at a point of the window; the shortest passage wins. */
  at(x: number, y: number): string | undefined {
    const hit = [...this.#ranges].filter(([, range]) =>
      [...range.getClientRects()].some(({ left, right, top, bottom }) => x >= left && x <= right && y >= top && y <= bottom),
    );
    hit.sort(([, one], [, other]) => one.toString().length - other.toString().length);
    return hit[0]?.[0];
  }

  /** Finds the passage of a comment that is being written. */
  find({ quote, position }: Passage): Range | undefined {
    return new PageText(bodyOf()).find(quote, position.start);
  }

  /** The passage that a selection quotes. */
  passage(range: Range): Passage | undefined {
    return new PageText(bodyOf()).passage(range);
  }

  #later(): void {
    this.#looked.clear();
    if (this.#isWaiting || this.#comments.length === 0) return;
    this.#isWaiting = true;
    setTimeout(() => {
      this.#isWaiting = false;
      if (this.#look()) this.#changed();
    }, AGAIN_MS);
  }

  /** True if any passage was found or lost. */
  #look(): boolean {
    let text: PageText | undefined;
    let isOther = false;
    for (const { id, quote, position } of this.#comments) {
      if (this.#looked.get(id) === quote.exact) continue;
      this.#looked.set(id, quote.exact);
      const known = this.#ranges.get(id);
      if (known !== undefined && squashed(known.toString()) === squashed(quote.exact)) continue;
      text ??= new PageText(bodyOf());
      const start = position?.start;
      const found = text.find(quote, typeof start === 'number' ? start : 0);
      isOther ||= found !== undefined || known !== undefined;
      if (found === undefined) this.#ranges.delete(id);
      else this.#ranges.set(id, found);
    }
    return isOther;
  }
}

function isQuoting(comment: Comment): comment is Quoting {
  return comment.quote !== null;
}

/** A page that rewrites itself can be without a body for a moment. */
function bodyOf(): Element {
  return document.body ?? document.documentElement;
}
