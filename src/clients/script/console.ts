/** `console`: each line goes to the output of the run. */
import type { Natives } from '../../features/automation/scripts/bridge.ts';

export function consoleOf(natives: Natives) {
  let isFull = false;
  const write =
    (label: string) =>
    (...values: readonly unknown[]) => {
      // A flood is not even formatted.
      if (isFull) return;
      let line = label;
      for (let at = 0; at < values.length; at += 1) line += `${at === 0 ? '' : ' '}${shown(values[at])}`;
      // The bindings end a text at its first NUL.
      isFull = !natives.print(line.replaceAll('\0', '\uFFFD'));
    };
  return { log: write(''), info: write(''), debug: write(''), warn: write('[warn] '), error: write('[error] ') };
}

function shown(value: unknown): string {
  try {
    if (typeof value === 'string') return value;
    if (value instanceof Error) return `${value.name}: ${value.message}`;
    if (typeof value === 'object' && value !== null) return JSON.stringify(value) ?? String(value);
    return String(value);
  } catch {
    return '[unreadable]';
  }
}
