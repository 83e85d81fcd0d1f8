/** Formats sizes, times and tables for a terminal. */

/** 0 B, 812 B, 3.4 KB, 25 MB: 1024-based like the limits. */
export function bytesText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ['KB', 'MB', 'GB'];
  let value = bytes / 1024;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** Local time to the minute, from an RFC 3339 time. */
export function timeText(iso: string): string {
  const time = new Date(iso);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())} ${two(time.getHours())}:${two(time.getMinutes())}`;
}

/** Who sees a page, as the beginning of a sentence. */
export function seenBy(visibility: string): string {
  if (visibility === 'workspace') return 'The page is for members of its workspace';
  if (visibility === 'password') return 'The page asks for its password';
  return `The page is ${visibility}`;
}

export function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Pads each column but the last to its widest cell. */
export function tableText(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return all.map(line).join('\n');
}
