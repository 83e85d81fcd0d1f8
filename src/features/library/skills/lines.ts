/** What a text changed of another one, line by line, and the join of two such changes. */
import { diffArrays } from 'diff';

/** Lines of the base from `from` to before `to` are replaced by `lines`. */
export interface Change {
  readonly from: number;
  readonly to: number;
  readonly lines: readonly string[];
}

export type Region = { readonly ok: readonly string[] } | { readonly live: readonly string[]; readonly proposed: readonly string[] };

type Lines = readonly string[];

/** Comparing two unlike texts takes quadratic time: with more lines added and removed than these it is given up. */
const EDITS_MAX = 500;

/**
 * The changes from the base, each as far down as equal lines let it slide, which is where git has them. Undefined where the texts are too
 * different. `isFromEnd`: the texts are compared from their ends, which finds other changes where lines repeat.
 */
export function changesOf(base: Lines, side: Lines, isFromEnd: boolean): readonly Change[] | undefined {
  if (!isFromEnd) {
    const found = compared(base, side);
    return found && slid(base, found);
  }
  const found = compared([...base].reverse(), [...side].reverse());
  const turned = found?.map(({ from, to, lines }) => ({ from: base.length - to, to: base.length - from, lines: [...lines].reverse() }));
  return turned && slid(base, turned.reverse());
}

function compared(base: Lines, side: Lines): Change[] | undefined {
  const parts = diffArrays([...base], [...side], { maxEditLength: EDITS_MAX });
  if (parts === undefined) return undefined;
  const changes: Change[] = [];
  let at = 0;
  let open: { from: number; to: number; lines: string[] } | undefined;
  for (const { added, removed, value } of parts) {
    if (added || removed) {
      if (open === undefined) {
        open = { from: at, to: at, lines: [] };
        changes.push(open);
      }
      if (added) open.lines.push(...value);
      else open.to += value.length;
    } else open = undefined;
    if (!added) at += value.length;
  }
  return changes;
}

function slid(base: Lines, changes: readonly Change[]): readonly Change[] {
  const down: Change[] = [];
  for (const change of [...changes].reverse()) {
    const next = down.at(-1);
    const last = slide(base, change, next?.from ?? base.length);
    if (next !== undefined && last.to === next.from) {
      down[down.length - 1] = { from: last.from, to: next.to, lines: [...last.lines, ...next.lines] };
    } else down.push(last);
  }
  return down.reverse();
}

function slide(base: Lines, { from, to, lines }: Change, end: number): Change {
  let by = 0;
  if (from === to) {
    while (to + by < end && base[to + by] === lines[by % lines.length]) by += 1;
    const turn = by % lines.length;
    return { from: from + by, to: to + by, lines: [...lines.slice(turn), ...lines.slice(0, turn)] };
  }
  while (lines.length === 0 && to + by < end && base[to + by] === base[from + by]) by += 1;
  return { from: from + by, to: to + by, lines };
}

/** Changes of both sides that overlap or touch are one region, as in git; it is a conflict unless both sides made the same of it. */
export function joined(base: Lines, live: readonly Change[], proposed: readonly Change[]): Region[] {
  const regions: Region[] = [];
  const all = [...live, ...proposed].sort((a, b) => a.from - b.from || a.to - b.to);
  let at = 0;
  for (let first = 0; first < all.length; ) {
    const from = all[first]?.from ?? 0;
    let to = from;
    let last = first;
    for (let next = all[last]; next !== undefined && next.from <= to; next = all[last]) {
      to = Math.max(to, next.to);
      last += 1;
    }
    const within = new Set(all.slice(first, last));
    const of = (changes: readonly Change[]) =>
      applied(
        base,
        { from, to },
        changes.filter((change) => within.has(change)),
      );
    const [a, b] = [of(live), of(proposed)];
    regions.push({ ok: base.slice(at, from) }, regionOf(a, b));
    at = to;
    first = last;
  }
  return [...regions, { ok: base.slice(at) }];
}

interface Applied {
  readonly lines: Lines;
  readonly isChanged: boolean;
}

function regionOf(live: Applied, proposed: Applied): Region {
  if (!proposed.isChanged) return { ok: live.lines };
  if (!live.isChanged || live.lines.join('') === proposed.lines.join('')) return { ok: proposed.lines };
  return { live: live.lines, proposed: proposed.lines };
}

function applied(base: Lines, { from, to }: Pick<Change, 'from' | 'to'>, changes: readonly Change[]): Applied {
  let at = from;
  const lines = changes.flatMap((change) => {
    const before = base.slice(at, change.from);
    at = change.to;
    return [...before, ...change.lines];
  });
  return { lines: [...lines, ...base.slice(at, to)], isChanged: changes.length > 0 };
}
