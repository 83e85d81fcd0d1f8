/** The quoted history in mail: cut from what comes in, and added to what goes out. */
import { LIMITS } from '../../../../protocol/core/limits.ts';

/** Longer lines are no headings of a quotation. */
const HEADING_CHARS_MAX = 400;
/** The headings that mail programs write above what they quote, in the languages of most of them. Each part alone: together they take long. */
const BEGINS = /^(?:On|El|Am|Le|Em|Op|Il)\b/u;
const WROTE = /(?:wrote|escribió|a écrit|escreveu|schreef|ha scritto)\s*:$/u;
const WROTE_INSIDE = /\bschrieb\b/u;
const ORIGINAL = /^-{2,}\s*(?:Original Message|Mensaje original|Ursprüngliche Nachricht|Message d'origine)\s*-{2,}$/i;
const RULE = /^_{20,}$/;
const FROM = /^\*?(?:From|De|Von|Da|Van):\*?\s\S/;
const SENT = /^\*?(?:Sent|Date|Enviado|Fecha|Gesendet|Datum|To|Para|An):\*?\s\S/;

export interface CutMail {
  readonly body: string;
  readonly quoted: string | null;
}

/** What the sender has written, without the history below it. A mail that is nothing but a quotation stays as it is. */
export function cutQuoted(text: string): CutMail {
  const lines = text.replace(/\r\n?/g, '\n').split('\n');
  const begin = quotationAt(lines);
  if (begin === -1) return { body: text.trim(), quoted: null };
  const end = endOf(lines, begin);
  const body = [...lines.slice(0, begin), ...lines.slice(end)].join('\n').trim();
  return body === '' ? { body: text.trim(), quoted: null } : { body, quoted: lines.slice(begin, end).join('\n').trim() };
}

/** The line at which the history begins; -1 where there is none. */
function quotationAt(lines: readonly string[]): number {
  for (let at = 0; at < lines.length; at += 1) {
    const line = (lines[at] ?? '').trim();
    if (line.length > HEADING_CHARS_MAX) continue;
    if (isHeading(line) || ORIGINAL.test(line)) return at;
    // Long headings are wrapped.
    const wrapped = `${line} ${(lines[at + 1] ?? '').trim()}`;
    if (wrapped.length <= HEADING_CHARS_MAX && isHeading(wrapped)) return at;
    const next = lines.slice(at + 1, at + 5).map((other) => other.trim());
    if (FROM.test(line) && next.some((other) => SENT.test(other))) return at;
    if (RULE.test(line) && next.some((other) => FROM.test(other))) return at;
  }
  return trailingQuoteAt(lines);
}

function isHeading(line: string): boolean {
  return line.endsWith(':') && BEGINS.test(line) && (WROTE.test(line) || WROTE_INSIDE.test(line));
}

/** Lines with `>` at the end of a mail. */
function trailingQuoteAt(lines: readonly string[]): number {
  let begin = lines.length;
  while (begin > 0 && isQuotedOrBlank(lines[begin - 1] ?? '')) begin -= 1;
  const first = lines.slice(begin).findIndex((line) => line.startsWith('>'));
  return first === -1 ? -1 : begin + first;
}

/** Below a quotation whose lines are marked the sender may go on writing. */
function endOf(lines: readonly string[], begin: number): number {
  let at = begin;
  while (at < lines.length && !(lines[at] ?? '').startsWith('>') && at - begin < 4) at += 1;
  if (!(lines[at] ?? '').startsWith('>')) return lines.length;
  while (at < lines.length && isQuotedOrBlank(lines[at] ?? '')) at += 1;
  return at;
}

function isQuotedOrBlank(line: string): boolean {
  return line.startsWith('>') || line.trim() === '';
}

export interface Said {
  readonly at: string;
  readonly by: string;
  readonly body: string;
}

/** The history under a reply, newest first, each message a level deeper, as long as there is room. */
export function quotedHistory(messages: readonly Said[], wrote: (said: Said) => string): string {
  let text = '';
  for (const [depth, said] of messages.entries()) {
    const mark = '>'.repeat(depth + 1);
    const lines = said.body.split('\n').map((line) => `${mark} ${line}`);
    const next = `${depth === 0 ? '' : `${'>'.repeat(depth)} `}${wrote(said)}\n${lines.join('\n')}\n`;
    if (text.length + next.length > LIMITS.ticketQuotedCharsMax) break;
    text += next;
  }
  return text;
}
