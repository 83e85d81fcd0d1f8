/** The plain text of an HTML mail, for programs that show no HTML. */

const SILENT = new Set(['head', 'script', 'style', 'title', 'template']);
const BLOCKS = ['p', 'div', 'table', 'ul', 'ol', 'blockquote', 'pre', 'section', 'h1', 'h2', 'h3', 'h4', 'hr'];
const BREAKS = new Map([...BLOCKS.map((name) => [name, '\n\n'] as const), ['br', '\n'], ['li', '\n'], ['tr', '\n'], ['td', ' ']]);
const NAMED = new Map(Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }));

/** Markup is left out, blocks become lines, and a link is followed by its address. Takes linear time. */
export function textOfHtml(html: string): string {
  const reading = new Reading();
  for (let at = 0; at < html.length; ) {
    const open = html.indexOf('<', at);
    reading.text(html.slice(at, open === -1 ? html.length : open));
    if (open === -1) break;
    const tag = tagAt(html, open);
    reading.tag(tag, html.slice(open, tag.endsAt));
    at = tag.endsAt;
  }
  return reading.end();
}

class Reading {
  #text = '';
  /** The element around, of which nothing is shown. */
  #silent: string | undefined;
  #href: string | undefined;

  text(written: string): void {
    if (this.#silent === undefined) this.#text += decoded(written).replace(/\s+/g, ' ');
  }

  tag({ name, isEnd }: Tag, written: string): void {
    if (this.#silent !== undefined) {
      if (isEnd && name === this.#silent) this.#silent = undefined;
      return;
    }
    if (SILENT.has(name) && !isEnd) this.#silent = name;
    if (name === 'a') {
      if (isEnd && this.#href !== undefined) this.#text += ` (${this.#href})`;
      this.#href = isEnd ? undefined : addressIn(written);
    }
    this.#text += BREAKS.get(name) ?? '';
  }

  end(): string {
    const lines = this.#text.split('\n').map((line) => line.trim());
    return `${lines
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim()}\n`;
  }
}

interface Tag {
  readonly name: string;
  readonly isEnd: boolean;
  readonly endsAt: number;
}

function tagAt(html: string, open: number): Tag {
  if (html.startsWith('<!--', open)) {
    const end = html.indexOf('-->', open);
    return { name: '', isEnd: false, endsAt: end === -1 ? html.length : end + 3 };
  }
  const end = html.indexOf('>', open);
  const isEnd = html[open + 1] === '/';
  const name = /^[a-z][a-z0-9]{0,15}/i.exec(html.slice(open + (isEnd ? 2 : 1), open + 20))?.[0].toLowerCase() ?? '';
  return { name, isEnd, endsAt: end === -1 ? html.length : end + 1 };
}

function addressIn(tag: string): string | undefined {
  const found = /\shref\s{0,5}=\s{0,5}(?:"([^"]*)"|'([^']*)')/i.exec(tag.slice(0, 4000));
  const address = decoded(found?.[1] ?? found?.[2] ?? '').trim();
  return /^(?:https?|mailto):/i.test(address) ? address : undefined;
}

function decoded(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,5}));/gi, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return NAMED.get(name.toLowerCase()) ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : whole;
  });
}
