/**
 * The text of the page in the form in which quotes are searched: without white space and other differences between browsers. The server searches
 * in the same form.
 */
import type { Comment } from '../page/wire.ts';

type Quote = NonNullable<Comment['quote']>;

export interface Passage {
  readonly quote: Quote;
  /** Offset in the text without white space; tells repeated passages apart. */
  readonly position: { readonly start: number; readonly end: number };
}

// Source: commentQuoteCharsMax and commentContextCharsMax of protocol/core/limits.ts.
export const QUOTE_CHARS_MAX = 2000;
export const CONTEXT_CHARS = 60;

const IGNORED = /[\s\u00ad\u200b\ufeff]/;
const IGNORED_ALL = /[\s\u00ad\u200b\ufeff]+/g;
/** The content of these elements is not text of the page. */
const UNSEEN = 'script,style,template,noscript,title,iframe,textarea,select';
/** Maximum number of candidates: a short quote can occur very often on a long page. */
const CANDIDATES_MAX = 5000;

export class PageText {
  readonly #nodes: Text[] = [];
  /** Offset of each node in the text. */
  readonly #starts: number[] = [];
  readonly #text: string;
  readonly #raw = new Map<number, Uint32Array>();

  constructor(root: Node) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const pieces: string[] = [];
    let length = 0;
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const piece = squashed((node as Text).data);
      if (piece === '' || node.parentElement?.closest(UNSEEN)) continue;
      this.#nodes.push(node as Text);
      this.#starts.push(length);
      pieces.push(piece);
      length += piece.length;
    }
    this.#text = pieces.join('');
  }

  /** The passage that a selection quotes; undefined if it contains no text of the page. */
  passage(range: Range): Passage | undefined {
    if (!document.body.contains(range.commonAncestorContainer)) return undefined;
    const start = this.#offsetOf(range.startContainer, range.startOffset);
    const end = Math.min(this.#offsetOf(range.endContainer, range.endOffset), start + QUOTE_CHARS_MAX);
    const exact = this.#words(start, end).slice(0, QUOTE_CHARS_MAX).trim();
    if (exact === '') return undefined;
    const quote = { exact: whole(exact), prefix: this.#words(start - CONTEXT_CHARS, start), suffix: this.#words(end, end + CONTEXT_CHARS) };
    return { quote, position: { start, end: start + squashed(quote.exact).length } };
  }

  /** Finds a quote. Of several places it takes the one with the same surrounding words, then the nearest to the old position. */
  find(quote: Quote, near: number): Range | undefined {
    const needle = squashed(quote.exact);
    if (needle === '') return undefined;
    const prefix = squashed(quote.prefix);
    const suffix = squashed(quote.suffix);
    let best: { at: number; score: number } | undefined;
    let at = this.#text.indexOf(needle);
    for (let tried = 0; at !== -1 && tried < CANDIDATES_MAX; tried += 1, at = this.#text.indexOf(needle, at + 1)) {
      const score =
        sameEnd(this.#text.slice(Math.max(0, at - prefix.length), at), prefix) +
        sameStart(this.#text.slice(at + needle.length, at + needle.length + suffix.length), suffix);
      const isBetter = best === undefined || score > best.score || (score === best.score && Math.abs(at - near) < Math.abs(best.at - near));
      if (isBetter) best = { at, score };
    }
    return best === undefined ? undefined : this.#range(best.at, best.at + needle.length);
  }

  #range(start: number, end: number): Range {
    const range = document.createRange();
    const [first, from] = this.#place(start);
    const [last, to] = this.#place(end - 1);
    range.setStart(first, from);
    range.setEnd(last, to + 1);
    return range;
  }

  /** The node and the offset in it for an offset of the text. */
  #place(offset: number): [Text, number] {
    const at = this.#nodeAt(offset);
    const node = this.#nodes[at];
    if (node === undefined) throw new RangeError('The offset is beyond the text of the page.');
    return [node, this.#rawOf(at, node)[offset - (this.#starts[at] ?? 0)] ?? node.length];
  }

  /** The offset in the node for each character of the text. */
  #rawOf(at: number, { data }: Text): Uint32Array {
    let raw = this.#raw.get(at);
    if (raw === undefined) {
      raw = new Uint32Array(data.length);
      let kept = 0;
      for (let offset = 0; offset < data.length; offset += 1) if (!IGNORED.test(data.charAt(offset))) raw[kept++] = offset;
      this.#raw.set(at, raw);
    }
    return raw;
  }

  /** The last node that begins at or before the offset. */
  #nodeAt(offset: number): number {
    let [low, high] = [0, this.#starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The length of the text before a boundary of a range. */
  #offsetOf(container: Node, offset: number): number {
    const boundary = document.createRange();
    boundary.setStart(container, offset);
    let [low, high] = [0, this.#nodes.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const node = this.#nodes[middle];
      // This node is after the boundary or contains it.
      if (node === undefined || boundary.comparePoint(node, node.length) >= 0) high = middle;
      else low = middle + 1;
    }
    const node = this.#nodes[low];
    if (node === undefined) return this.#text.length;
    const inside = node === container ? squashed(node.data.slice(0, offset)).length : 0;
    return (this.#starts[low] ?? 0) + inside;
  }

  /** The text between two offsets, with its white space. */
  #words(from: number, to: number): string {
    const [start, end] = [Math.max(0, from), Math.min(to, this.#text.length)];
    if (start >= end) return '';
    const [first, begin] = this.#place(start);
    const [last, stop] = this.#place(end - 1);
    let words = '';
    for (let at = this.#nodeAt(start); at < this.#nodes.length; at += 1) {
      const node = this.#nodes[at];
      if (node === undefined) break;
      const piece = node.data.slice(node === first ? begin : 0, node === last ? stop + 1 : undefined);
      words += at > 0 && isBlockEdge(this.#nodes[at - 1], node) ? ` ${piece}` : piece;
      if (node === last) break;
    }
    return whole(words.replace(/\s+/g, ' ').trim());
  }
}

export function squashed(text: string): string {
  return text.replace(IGNORED_ALL, '');
}

/** Removes half of a surrogate pair, which a cut can leave and the server rejects. */
function whole(text: string): string {
  return text.replace(/\p{Cs}/gu, '');
}

/** A block boundary separates words. */
function isBlockEdge(before: Text | undefined, after: Text): boolean {
  return before !== undefined && before.parentElement !== after.parentElement && blockOf(before) !== blockOf(after);
}

function blockOf({ parentElement }: Text): Element | null {
  let element = parentElement;
  while (element !== null && getComputedStyle(element).display.startsWith('inline')) element = element.parentElement;
  return element;
}

function sameStart(text: string, wanted: string): number {
  let same = 0;
  while (same < wanted.length && text.charAt(same) === wanted.charAt(same)) same += 1;
  return same;
}

function sameEnd(text: string, wanted: string): number {
  let same = 0;
  while (same < wanted.length && same < text.length && text.charAt(text.length - 1 - same) === wanted.charAt(wanted.length - 1 - same))
    same += 1;
  return same;
}
