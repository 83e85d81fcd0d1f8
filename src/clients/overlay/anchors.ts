/** Where on the page the quoted passages stand now. Pages change under their comments: what is lost is looked for again. */
import type { Comment } from '../page/wire.ts';
import { PageText, type Passage, squashed } from './page-text.ts';

/** A page that changes all the time is looked through so often. */
const AGAIN_MS = 1000;

type Quoting = Comment & { quote: NonNullable<Comment['quote']> };

export class Anchors {
  readonly #changed: () => void;
  #comments: readonly Quoting[] = [];
  readonly #ranges = new Map<string, Range>();
  /** What was looked for since the page changed last, by comment. */
  readonly #looked = new Map<string, string>();
  #isWaiting = false;

  /** `changed`: passages were found or lost since `watch` was called last. */
  constructor(changed: () => void) {
    this.#changed = changed;
    new MutationObserver(() => this.#later()).observe(document, { childList: true, characterData: true, subtree: true });
  }

  /** The comments whose passages are wanted from now on. */
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

  /** The comment whose passage is at a place of the window; of several the shortest. */
  at(x: number, y: number): string | undefined {
    const hit = [...this.#ranges].filter(([, range]) =>
      [...range.getClientRects()].some(({ left, right, top, bottom }) => x >= left && x <= right && y >= top && y <= bottom),
    );
    hit.sort(([, one], [, other]) => one.toString().length - other.toString().length);
    return hit[0]?.[0];
  }

  /** Where something is that is being commented on. */
  find({ quote, position }: Passage): Range | undefined {
    return new PageText(bodyOf()).find(quote, position.start);
  }

  /** What is selected. */
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

  /** Whether anything is other than it was. */
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

/** A page that replaces itself may have none for a while. */
function bodyOf(): Element {
  return document.body ?? document.documentElement;
}
