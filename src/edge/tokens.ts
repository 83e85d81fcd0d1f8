/**
 * The visual language: every colour, size, distance and duration that a page of ours may use. The web app, our server-rendered pages and
 * `/design` share it. Text has a contrast of 4.5 : 1 at least on every surface, edges of controls 3 : 1.
 */

const LIGHT = `--paper: #faf8f4; --card: #fffefc; --sunk: #f2efe8; --hover: #ece8df; --ink: #1d1b19; --soft: #5f5a53; --faint: #6b665e; --line: #e3dfd6; --edge: #8a857b; --accent: #a83c24; --accent-hover: #8f311c; --accent-paper: #f8e8e2; --on-accent: #ffffff; --code: #f1eee7; --good: #24602f; --good-paper: #e4f1e2; --warn: #704a00; --warn-paper: #faefd3; --bad: #96261b; --bad-paper: #fbe8e4; --info: #1f5673; --info-paper: #e3eff5; --veil: rgb(29 27 25 / 0.38); --lift-1: 0 1px 2px rgb(40 30 15 / 0.06); --lift-2: 0 2px 4px rgb(40 30 15 / 0.06), 0 6px 16px rgb(40 30 15 / 0.08); --lift-3: 0 4px 12px rgb(40 30 15 / 0.08), 0 18px 48px rgb(40 30 15 / 0.18);`;
const DARK = `--paper: #181716; --card: #201e1d; --sunk: #131211; --hover: #2b2927; --ink: #eeebe4; --soft: #b5b0a6; --faint: #a29c92; --line: #33302d; --edge: #827d74; --accent: #f0937a; --accent-hover: #f6ad99; --accent-paper: #3a241d; --on-accent: #1a1918; --code: #292624; --good: #a5d8a3; --good-paper: #1f2d20; --warn: #e9c46a; --warn-paper: #332a15; --bad: #f6b0a4; --bad-paper: #3a211d; --info: #9fcbe3; --info-paper: #1a2b35; --veil: rgb(0 0 0 / 0.6); --lift-1: 0 1px 2px rgb(0 0 0 / 0.3); --lift-2: 0 2px 4px rgb(0 0 0 / 0.3), 0 6px 16px rgb(0 0 0 / 0.35); --lift-3: 0 4px 12px rgb(0 0 0 / 0.4), 0 18px 48px rgb(0 0 0 / 0.6);`;

/** Names of colours by what they are for, as `/design` shows them. */
export const COLOURS = {
  surfaces: ['paper', 'card', 'sunk', 'hover', 'code'],
  text: ['ink', 'soft', 'faint'],
  lines: ['line', 'edge'],
  accent: ['accent', 'accent-hover', 'accent-paper', 'on-accent'],
  states: ['good', 'good-paper', 'warn', 'warn-paper', 'bad', 'bad-paper', 'info', 'info-paper'],
} as const;

export const TYPE_SIZES = ['xs', 's', 'm', 'l', 'xl', '2xl', '3xl'] as const;
export const GAPS = [1, 2, 3, 4, 5, 6, 7, 8] as const;

/** `data-theme` on the root element is the reader's own choice and wins over that of the system. */
export const TOKENS_STYLE = `:root { color-scheme: light; ${LIGHT}
--sans: system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif; --serif: 'Iowan Old Style', 'Palatino Linotype', Palatino, 'URW Palladio L', Georgia, serif; --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace;
--text-xs: 0.75rem; --text-s: 0.8125rem; --text-m: 0.9375rem; --text-l: 1.0625rem; --text-xl: 1.3125rem; --text-2xl: 1.75rem; --text-3xl: 2.5rem;
--gap-1: 0.25rem; --gap-2: 0.5rem; --gap-3: 0.75rem; --gap-4: 1rem; --gap-5: 1.5rem; --gap-6: 2rem; --gap-7: 3rem; --gap-8: 4.5rem;
--round-s: 0.375rem; --round-m: 0.5rem; --round-l: 0.75rem; --round-full: 999px;
--quick: 120ms; --calm: 220ms; --ease: cubic-bezier(0.2, 0.7, 0.2, 1); --target: 2.75rem; }
@media (prefers-color-scheme: dark) { :root:not([data-theme='light']) { color-scheme: dark; ${DARK} } }
:root[data-theme='dark'] { color-scheme: dark; ${DARK} }
@media (prefers-reduced-motion: reduce) { :root { --quick: 0ms; --calm: 0ms; } }
`;
