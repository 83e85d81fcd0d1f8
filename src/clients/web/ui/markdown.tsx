/** Markdown as elements, never as HTML: headings, paragraphs, lists, quotations, code, emphasis and links. Anything else stays text. */
import type { ComponentChildren } from 'preact';

/** Longer texts are shown as they are. */
const CHARS_MAX = 64 * 1024;
const INLINE = /(`[^`\n]+`)|(\*\*[^*\n]+\*\*)|(\*[^*\n]+\*)|\[([^\]\n]+)\]\(((?:https?:\/\/|mailto:)[^\s()]+)\)/g;

export function Markdown({ text }: { readonly text: string }) {
  if (text.length > CHARS_MAX) return <pre class="markdown-raw">{text}</pre>;
  return <div class="markdown">{blocksOf(text.replace(/\r\n?/g, '\n').split('\n'))}</div>;
}

function blocksOf(lines: readonly string[]): ComponentChildren[] {
  const blocks: ComponentChildren[] = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? '';
    if (line.trim() === '') {
      at += 1;
      continue;
    }
    const [block, taken] = blockAt(lines, at, line);
    blocks.push(block);
    at += taken;
  }
  return blocks;
}

/** The block that begins here, and how many lines it has. */
function blockAt(lines: readonly string[], at: number, line: string): readonly [ComponentChildren, number] {
  const heading = /^(#{1,6}) +(.*)$/.exec(line);
  if (heading !== null) return [headingOf(heading[1]?.length ?? 1, heading[2] ?? ''), 1];
  if (line.startsWith('```')) {
    const end = lines.findIndex((one, index) => index > at && one.startsWith('```'));
    const last = end === -1 ? lines.length : end;
    return [<pre key={at}>{lines.slice(at + 1, last).join('\n')}</pre>, last - at + 1];
  }
  for (const [pattern, made] of RUNS) {
    const run = runOf(lines, at, pattern);
    if (run.length > 0) return [made(run.map((one) => one.replace(pattern, ''))), run.length];
  }
  const words = paragraphAt(lines, at);
  return [<p key={at}>{inline(words.join('\n'))}</p>, words.length];
}

/** Below the headings of the screen that shows it. */
function headingOf(level: number, text: string) {
  const content = inline(text);
  if (level === 1) return <h4>{content}</h4>;
  return level === 2 ? <h5>{content}</h5> : <h6>{content}</h6>;
}

const items = (lines: readonly string[]) => lines.map((line, at) => <li key={at}>{inline(line)}</li>);

/** Blocks of lines that all begin alike. */
const RUNS: readonly (readonly [RegExp, (lines: readonly string[]) => ComponentChildren])[] = [
  [/^ {0,3}[-*+] +/, (lines) => <ul>{items(lines)}</ul>],
  [/^ {0,3}\d{1,9}[.)] +/, (lines) => <ol>{items(lines)}</ol>],
  [/^> ?/, (lines) => <blockquote>{inline(lines.join('\n'))}</blockquote>],
];

function runOf(lines: readonly string[], at: number, pattern: RegExp): readonly string[] {
  const end = lines.findIndex((line, index) => index >= at && !pattern.test(line));
  return lines.slice(at, end === -1 ? lines.length : end);
}

function paragraphAt(lines: readonly string[], at: number): readonly string[] {
  const isOther = (line: string) =>
    line.trim() === '' || /^#{1,6} /.test(line) || line.startsWith('```') || RUNS.some(([one]) => one.test(line));
  const end = lines.findIndex((line, index) => index > at && isOther(line));
  return lines.slice(at, end === -1 ? lines.length : end);
}

function inline(text: string): ComponentChildren[] {
  const parts: ComponentChildren[] = [];
  let last = 0;
  for (const match of text.matchAll(INLINE)) {
    parts.push(text.slice(last, match.index));
    parts.push(elementOf(match));
    last = match.index + match[0].length;
  }
  parts.push(text.slice(last));
  return parts;
}

function elementOf([, code, strong, emphasis, label, href]: RegExpExecArray): ComponentChildren {
  if (code !== undefined) return <code>{code.slice(1, -1)}</code>;
  if (strong !== undefined) return <strong>{strong.slice(2, -2)}</strong>;
  if (emphasis !== undefined) return <em>{emphasis.slice(1, -1)}</em>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {label}
    </a>
  );
}
