/** Joins what was proposed with what was published meanwhile. */
import { Failure } from '../../../../protocol/core/errors.ts';
import { changesOf, joined, type Region } from './lines.ts';

type Lines = readonly string[];

interface Sides {
  readonly live: Lines;
  readonly base: Lines;
  readonly proposed: Lines;
}

/** Line by line. Throws VERSION_CONFLICT with both sides marked, where both changed the same lines or lines that touch. */
export function mergeSources(live: string, base: string, proposed: string): string {
  if (live === base || live === proposed) return proposed;
  if (proposed === base) return live;
  const sides = { live: linesOf(live), base: linesOf(base), proposed: linesOf(proposed) };
  const regions = regionsOf(sides);
  const size = markSize([...sides.live, ...sides.proposed]);
  const text = regions.map((region) => ('ok' in region ? region.ok.join('') : marked(region, size))).join('');
  if (!hasConflict(regions)) return text;
  throw new Failure('VERSION_CONFLICT', {
    message: 'The change and what was published since its base are about the same lines, or about lines next to each other.',
    hint: 'Read conflict, which has both sides marked; PUT the text that is right, or ask for a change of the live version.',
    conflict: text,
  });
}

/**
 * Where lines repeat, which of them changed depends on the end from which texts are compared. What is joined has to be the same from both
 * ends: otherwise a person decides.
 */
function regionsOf(sides: Sides): readonly Region[] {
  const fromStart = joinedFrom(sides, false);
  if (fromStart === undefined) return wholeConflict(sides);
  if (hasConflict(fromStart)) return fromStart;
  const fromEnd = joinedFrom(sides, true);
  if (fromEnd === undefined) return wholeConflict(sides);
  if (hasConflict(fromEnd)) return fromEnd;
  return textOf(fromStart) === textOf(fromEnd) ? fromStart : wholeConflict(sides);
}

function joinedFrom({ live, base, proposed }: Sides, isFromEnd: boolean): readonly Region[] | undefined {
  const ofLive = changesOf(base, live, isFromEnd);
  const ofProposed = ofLive && changesOf(base, proposed, isFromEnd);
  return ofLive && ofProposed && joined(base, ofLive, ofProposed);
}

function hasConflict(regions: readonly Region[]): boolean {
  return regions.some((region) => !('ok' in region));
}

function textOf(regions: readonly Region[]): string {
  return regions.flatMap((region) => ('ok' in region ? region.ok : [])).join('');
}

/** All but what both sides begin and end with. */
function wholeConflict({ live, proposed }: Sides): readonly Region[] {
  const head = commonLines(live, proposed);
  const tail = commonLines(live.slice(head).reverse(), proposed.slice(head).reverse());
  const own = (lines: Lines) => lines.slice(head, lines.length - tail);
  return [{ ok: live.slice(0, head) }, { live: own(live), proposed: own(proposed) }, { ok: live.slice(live.length - tail) }];
}

function commonLines(some: Lines, others: Lines): number {
  const end = some.findIndex((line, at) => line !== others[at]);
  return end === -1 ? some.length : end;
}

function linesOf(text: string): string[] {
  return text.split(/(?<=\n)(?=[\s\S])/);
}

const MARK_CHARS_MIN = 7;

/** Longer than any line that looks like a mark, so that marks are told from what a text says of conflicts. */
function markSize(lines: Lines): number {
  const runs = lines.map((line) => /^(?:<+|=+|>+)/.exec(line)?.[0].length ?? 0);
  return Math.max(MARK_CHARS_MIN, ...runs.map((length) => length + 1));
}

function marked({ live, proposed }: Omit<Sides, 'base'>, size: number): string {
  const mark = (sign: string) => sign.repeat(size);
  return `${mark('<')} live version\n${ended(live)}${mark('=')}\n${ended(proposed)}${mark('>')} proposed change\n`;
}

function ended(lines: Lines): string {
  const text = lines.join('');
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
