/** The lines of a unified diff, as a review shows them: none may be missing. */

type LineKind = 'added' | 'removed' | 'same' | 'place' | 'remark';

interface DiffLine {
  readonly kind: LineKind;
  /** With the sign before it. */
  readonly text: string;
}

/** Lines that a hunk still has of the old and of the new text. */
interface Left {
  readonly old: number;
  readonly next: number;
}

const FILE_HEADER = /^(?:Index: |={5,}$|--- |\+\+\+ )/;
const HUNK_HEADER = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;

/**
 * Only the headers before the first hunk are left out, because the screen names the file itself. A hunk's header says how many lines it has, so
 * an added line `++ x` or a removed `-- x` is never taken for the header of a file.
 */
export function linesOfUnified(text: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let left: Left = { old: 0, next: 0 };
  let isBeforeHunks = true;
  for (const line of text.replace(/\n$/, '').split('\n')) {
    if (left.old > 0 || left.next > 0) {
      const kind = kindInHunk(line);
      left = after(kind, left);
      lines.push({ kind, text: line });
      continue;
    }
    const hunk = HUNK_HEADER.exec(line);
    if (hunk !== null) left = { old: Number(hunk[1] ?? 1), next: Number(hunk[2] ?? 1) };
    isBeforeHunks &&= hunk === null;
    if (isBeforeHunks && FILE_HEADER.test(line)) continue;
    lines.push({ kind: line.startsWith('\\') ? 'remark' : 'place', text: line });
  }
  return withoutReturns(lines);
}

/** Where all lines end with \r\n the \r is no news; where only some do, it is what differs. */
function withoutReturns(lines: readonly DiffLine[]): DiffLine[] {
  const isLast = (at: number) => lines[at + 1]?.kind === 'remark';
  const isOther = ({ kind }: DiffLine) => kind === 'place' || kind === 'remark';
  const areAll = lines.every((line, at) => isOther(line) || isLast(at) || line.text.endsWith('\r'));
  return areAll ? lines.map((line) => ({ ...line, text: line.text.replace(/\r$/, '') })) : [...lines];
}

function after(kind: LineKind, { old, next }: Left): Left {
  return { old: kind === 'removed' || kind === 'same' ? old - 1 : old, next: kind === 'added' || kind === 'same' ? next - 1 : next };
}

function kindInHunk(line: string): LineKind {
  switch (line[0]) {
    case '+':
      return 'added';
    case '-':
      return 'removed';
    case '\\':
      return 'remark';
    default:
      return 'same';
  }
}
