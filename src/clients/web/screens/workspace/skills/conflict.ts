/** A text with both sides of its conflicts marked, read again. */

export type ConflictPart =
  | { readonly kind: 'same'; readonly lines: readonly string[] }
  | { readonly kind: 'conflict'; readonly live: readonly string[]; readonly proposed: readonly string[] };

/** The service makes its marks longer than all lines that look like one, so that the longest are the marks. */
function marksOf(text: string) {
  const sizes = [...text.matchAll(/^(<{7,}) live version$/gm)].map(([, run = '']) => run.length);
  const size = Math.max(0, ...sizes);
  return { size, live: `${'<'.repeat(size)} live version`, between: '='.repeat(size), end: `${'>'.repeat(size)} proposed change` };
}

export function partsOfConflict(text: string): readonly ConflictPart[] {
  const marks = marksOf(text);
  const parts: ConflictPart[] = [];
  let same: string[] = [];
  let [live, proposed]: [string[], string[]] = [[], []];
  let into = same;
  for (const line of text.replace(/\n$/, '').split('\n')) {
    if (into === same && marks.size > 0 && line === marks.live) {
      if (same.length > 0) parts.push({ kind: 'same', lines: same });
      [live, proposed] = [[], []];
      into = live;
    } else if (into === live && line === marks.between) into = proposed;
    else if (into === proposed && line === marks.end) {
      parts.push({ kind: 'conflict', live, proposed });
      same = [];
      into = same;
    } else into.push(line);
  }
  if (into === same && same.length > 0) parts.push({ kind: 'same', lines: same });
  return parts;
}

/** Whether a mark of the conflict stands in a text that was made from it. */
export function hasMarks(text: string, conflict: string): boolean {
  const { size, live, between, end } = marksOf(conflict);
  return size > 0 && text.split('\n').some((line) => [live, between, end].includes(line.trimEnd()));
}
