/** Joins what was proposed with what was published meanwhile. */
import { diff3Merge } from 'node-diff3';
import { Failure } from '../../../../protocol/core/errors.ts';

/**
 * Pairs of equal lines that a comparison may look at. The library needs seconds for some thousands of lines that are all alike; within this it
 * fits into a turn of the event loop.
 */
const PAIRS_MAX = 100_000;

interface Sides {
  readonly live: readonly string[];
  readonly proposed: readonly string[];
}

/** Line by line, a line together with the empty ones after it. Throws VERSION_CONFLICT with both sides marked, where both changed the same lines. */
export function mergeSources(live: string, base: string, proposed: string): string {
  if (live === base || live === proposed) return proposed;
  if (proposed === base) return live;
  const [a, o, b] = [linesOf(live), linesOf(base), linesOf(proposed)];
  const head = commonLines(a, o, b);
  const tail = commonLines(a.slice(head).reverse(), o.slice(head).reverse(), b.slice(head).reverse());
  const [ownA, ownO, ownB] = [a, o, b].map((lines) => lines.slice(head, lines.length - tail)) as [string[], string[], string[]];
  const isAlike = pairsOf(ownA, ownO) > PAIRS_MAX || pairsOf(ownB, ownO) > PAIRS_MAX;
  const regions = isAlike ? [{ conflict: { a: ownA, b: ownB } }] : diff3Merge(ownA, ownO, ownB, { excludeFalseConflicts: true });
  const middle = regions.map(({ ok, conflict }: { ok?: string[]; conflict?: { a: string[]; b: string[] } }) =>
    conflict === undefined ? (ok ?? []).join('') : marked({ live: conflict.a, proposed: conflict.b }),
  );
  const text = [...a.slice(0, head), ...middle, ...a.slice(a.length - tail)].join('');
  if (regions.every(({ conflict }: { conflict?: unknown }) => conflict === undefined)) return text;
  throw new Failure('VERSION_CONFLICT', {
    message: 'The change and what was published since its base are about the same lines.',
    hint: 'Read conflict, which has both sides marked; PUT the text that is right, or ask for a change of the live version.',
    conflict: text,
  });
}

function linesOf(text: string): string[] {
  return text.split(/(?<=\n)(?=[^\n])/);
}

function commonLines(...sides: readonly (readonly string[])[]): number {
  const [first = []] = sides;
  const lengthMin = Math.min(...sides.map(({ length }) => length));
  let common = 0;
  while (common < lengthMin && sides.every((lines) => lines[common] === first[common])) common += 1;
  return common;
}

function pairsOf(some: readonly string[], others: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const line of some) counts.set(line, (counts.get(line) ?? 0) + 1);
  return others.reduce((pairs, line) => pairs + (counts.get(line) ?? 0), 0);
}

function marked({ live, proposed }: Sides): string {
  return `<<<<<<< live version\n${ended(live)}=======\n${ended(proposed)}>>>>>>> proposed change\n`;
}

function ended(lines: readonly string[]): string {
  const text = lines.join('');
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
