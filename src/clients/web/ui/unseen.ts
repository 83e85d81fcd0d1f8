/** Characters that no one sees, named: an agent reads them, so that who reviews a text has to know of them. */

/** A text in parts; a part that is `unseen` is the name of a character. */
export interface TextPart {
  readonly text: string;
  readonly isUnseen: boolean;
}

/** Control and format characters, fillers, variation selectors and separators of lines. A tab is seen, and lines are told apart by \n. */
const UNSEEN = String.raw`[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029]`;
/** Those of Arabic, Syriac and Kaithi have a shape. */
const SEEN = String.raw`[\t\n\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]`;
/** What joins two emoji, and what chooses how one looks, belongs to the picture. */
const OF_EMOJI = [
  String.raw`(?<=\p{Extended_Pictographic}\ufe0f?\p{Emoji_Modifier}?)\u200d(?=\p{Extended_Pictographic})`,
  String.raw`(?<=\p{Extended_Pictographic})[\ufe0e\ufe0f]`,
  String.raw`(?<=[\d#*])\ufe0f(?=\u20e3)`,
].join('|');
const FOUND = new RegExp(`${OF_EMOJI}|(?!${SEEN})(${UNSEEN})`, 'gu');

export function partsOf(text: string): readonly TextPart[] {
  const parts: TextPart[] = [];
  let from = 0;
  for (const { 0: whole, 1: unseen, index } of text.matchAll(FOUND)) {
    if (unseen === undefined) continue;
    if (index > from) parts.push({ text: text.slice(from, index), isUnseen: false });
    parts.push({ text: nameOf(unseen), isUnseen: true });
    from = index + whole.length;
  }
  if (from < text.length) parts.push({ text: text.slice(from), isUnseen: false });
  return parts;
}

export function hasUnseen(text: string): boolean {
  return partsOf(text).some(({ isUnseen }) => isUnseen);
}

function nameOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
