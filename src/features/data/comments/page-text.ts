/** Extracts the text of a page so that quotations can be searched in it. Tolerates any markup and takes linear time. */

/** Elements whose content a browser does not show as text of the page. */
const HIDDEN = new Set(['script', 'style', 'template', 'noscript', 'title', 'iframe', 'noembed', 'noframes']);

/** Named entities that are common in prose. A passage with any other entity is not found, but never mistaken for another. */
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  ensp: ' ',
  emsp: ' ',
  thinsp: ' ',
  shy: '\u00ad',
  ndash: '–',
  mdash: '—',
  hellip: '…',
  lsquo: '‘',
  rsquo: '’',
  sbquo: '‚',
  ldquo: '“',
  rdquo: '”',
  bdquo: '„',
  laquo: '«',
  raquo: '»',
  bull: '•',
  middot: '·',
  copy: '©',
  reg: '®',
  trade: '™',
  deg: '°',
  times: '×',
  sect: '§',
  para: '¶',
  euro: '€',
  pound: '£',
  rarr: '→',
  larr: '←',
  auml: 'ä',
  ouml: 'ö',
  uuml: 'ü',
  Auml: 'Ä',
  Ouml: 'Ö',
  Uuml: 'Ü',
  szlig: 'ß',
  eacute: 'é',
  egrave: 'è',
  agrave: 'à',
  ccedil: 'ç',
  ntilde: 'ñ',
};

/** Removes white space and soft hyphens: browsers render them differently from the file, so a quotation would not match. */
export function squashed(text: string): string {
  return text.normalize('NFC').replace(/[\s\u00ad\u200b\ufeff]+/g, '');
}

/** The text of an HTML document, squashed. */
export function squashedHtml(html: string): string {
  const lower = html.toLowerCase();
  const pieces: string[] = [];
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    if (open === -1) break;
    const next = afterMarkup(html, lower, open);
    pieces.push(html.slice(at, next === open ? open + 1 : open));
    at = next === open ? open + 1 : next;
  }
  pieces.push(html.slice(at));
  return squashed(decoded(pieces.join('')));
}

/** The end of the tag, comment or hidden element that begins at `open`; `open` itself for a plain `<`. Unclosed markup extends to the end. */
function afterMarkup(html: string, lower: string, open: number): number {
  if (html.startsWith('<!--', open)) return after(html, '-->', open + 4);
  if (!/[a-z/!?]/.test(lower.charAt(open + 1))) return open;
  const end = tagEnd(html, open);
  const name = /^[a-z][a-z0-9]*/.exec(lower.slice(open + 1, open + 12))?.[0];
  if (name === undefined || !HIDDEN.has(name)) return end;
  const close = lower.indexOf(`</${name}`, end);
  return close === -1 ? html.length : tagEnd(html, close);
}

function after(html: string, mark: string, from: number): number {
  const at = html.indexOf(mark, from);
  return at === -1 ? html.length : at + mark.length;
}

/** The position after the `>` that closes a tag. A `>` inside a quoted value does not count. */
function tagEnd(html: string, open: number): number {
  let quote = '';
  for (let at = open + 1; at < html.length; at += 1) {
    const char = html.charAt(at);
    if (quote !== '') {
      if (char === quote) quote = '';
    } else if (char === '>') {
      return at + 1;
    } else if ((char === '"' || char === "'") && /[=\s]/.test(html.charAt(at - 1))) {
      quote = char;
    }
  }
  return html.length;
}

function decoded(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#([0-9]{1,7})|([a-z]{2,8}));/gi, (whole, hex?: string, decimal?: string, name?: string) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole;
  });
}
