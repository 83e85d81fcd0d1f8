/** How much two words differ: letters that were left out, added, exchanged or swapped with the next. */

/** Two words of a sentence differ as well: short ones are only compared as they are. */
const NEAR_CHARS_MIN = 4;
const FAR_CHARS_MIN = 7;
const NEIGHBOUR_CHARS_MAX = 24;
export const MISTAKES_MAX = 2;
/** As words are folded: without accents. */
const ALPHABETS = ['abcdefghijklmnopqrstuvwxyz0123456789', 'абвгдежзиклмнопрстуфхцчшщъыьэюяєіґ', 'αβγδεζηθικλμνξοπρστυφχψως'];

/** How many mistakes a word of this length may have. */
export function mistakesMax(chars: number): number {
  return chars < NEAR_CHARS_MIN ? 0 : chars < FAR_CHARS_MIN ? 1 : MISTAKES_MAX;
}

export function isNear(word: string, other: string): boolean {
  const max = mistakesMax(word.length);
  return max > 0 && distance(word, other, max) <= max;
}

/** Mistakes between two words; `max + 1` where there are more than `max`. */
export function distance(one: string, other: string, max: number): number {
  if (one === other) return 0;
  if (Math.abs(one.length - other.length) > max) return max + 1;
  let before: number[] = [];
  let above = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    let least = row;
    for (let column = 1; column <= other.length; column += 1) {
      const same = one[row - 1] === other[column - 1];
      let best = Math.min((above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, (above[column - 1] ?? 0) + (same ? 0 : 1));
      const isSwapped = row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (isSwapped) best = Math.min(best, (before[column - 2] ?? 0) + 1);
      current.push(best);
      least = Math.min(least, best);
    }
    if (least > max) return max + 1;
    before = above;
    above = current;
  }
  return Math.min(above[other.length] ?? max + 1, max + 1);
}

/** Every text that is one mistake away; none for a word that is too short or too long to be taken for a misspelt one. */
export function neighboursOf(word: string): string[] {
  if (mistakesMax(word.length) === 0 || word.length > NEIGHBOUR_CHARS_MAX) return [];
  const found = new Set<string>();
  const letters = [...(ALPHABETS.find((alphabet) => alphabet.includes(word[0] ?? '')) ?? '')];
  for (let at = 0; at <= word.length; at += 1) {
    const begin = word.slice(0, at);
    const end = word.slice(at);
    for (const letter of letters) {
      found.add(begin + letter + end);
      if (end !== '') found.add(begin + letter + end.slice(1));
    }
    if (end !== '') found.add(begin + end.slice(1));
    if (end.length > 1) found.add(`${begin}${end[1] ?? ''}${end[0] ?? ''}${end.slice(2)}`);
  }
  found.delete(word);
  return [...found];
}
