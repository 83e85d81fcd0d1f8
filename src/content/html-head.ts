/** Parses the head of an HTML document to add tags to it. It reads ASCII only, so it works on any ASCII-compatible encoding. */

export interface HtmlHead {
  /** The `property` or `name` of every meta element of the head, in lowercase. */
  readonly metas: ReadonlySet<string>;
  /** Index at which tags are inserted: after the declaration of the encoding, which must stay early, else at the start of the head. */
  readonly insertAt: number;
}

/** Larger pages are left unchanged, because readers of tags stop far earlier and the search would delay the page. */
const TAGGED_PAGE_BYTES_MAX = 4 * 1024 * 1024;

/** The search stops here; a hundred times the length of usual heads. */
const HEAD_CHARS_MAX = 512 * 1024;

/** Elements of a head; the first other element begins the body, as in the HTML standard. */
const HEAD_ELEMENTS = new Set(['!doctype', 'html', 'head', 'base', 'link', 'meta', 'title', 'style', 'script', 'noscript', 'template']);
/** Elements whose content is skipped: it is text, or (noscript, template) nothing that a preview reads. */
const TEXT_ELEMENTS = new Set(['title', 'style', 'script', 'noscript', 'template']);

const BYTE_ORDER_MARK = '\u00ef\u00bb\u00bf';
const TAG = /<(\/?)([a-z][a-z0-9:-]*)((?:[^"'>]|"[^"]*"|'[^']*')*)>/iy;
const ATTRIBUTE = /([^\s=/"'<>]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g;

interface Markup {
  /** The name in lowercase; `/head` for an end tag, `!doctype` for a doctype. */
  readonly name: string;
  readonly attributes: string;
  /** Index of the first character after the tag. */
  readonly end: number;
}

/** The page with added tags, which are ASCII and may depend on its own; the same object where nothing is added. */
export function withTags(page: Buffer, tagsOf: (head: HtmlHead) => string): Buffer {
  if (page.length > TAGGED_PAGE_BYTES_MAX || isUtf16(page)) return page;
  const head = readHead(page.toString('latin1'));
  const tags = tagsOf(head);
  if (tags === '') return page;
  return Buffer.concat([page.subarray(0, head.insertAt), Buffer.from(tags, 'latin1'), page.subarray(head.insertAt)]);
}

/** Escapes a quoted attribute value to ASCII, so that it is right in any encoding of the page. */
export function escapeAttribute(text: string): string {
  let escaped = '';
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    const isPlain = code >= 0x20 && code < 0x7f && !'&<>"\''.includes(character);
    escaped += isPlain ? character : `&#${code};`;
  }
  return escaped;
}

function isUtf16(page: Buffer): boolean {
  return page.length >= 2 && ((page[0] === 0xff && page[1] === 0xfe) || (page[0] === 0xfe && page[1] === 0xff));
}

/** `html` is the document as latin1 text, one character per byte. */
function readHead(html: string): HtmlHead {
  const text = html.slice(0, HEAD_CHARS_MAX);
  const metas = new Set<string>();
  let insertAt = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
  for (const { name, attributes, end } of markupOf(text, insertAt)) {
    if (name === '/head' || !(name.startsWith('/') || HEAD_ELEMENTS.has(name))) break;
    const declaresEncoding = name === 'meta' && readMeta(attributes, metas);
    // Tags before the doctype would switch the page to quirks mode.
    if (declaresEncoding || name === '!doctype' || name === 'html' || name === 'head') insertAt = end;
  }
  return { metas, insertAt };
}

/** Yields tags and doctypes in order; comments and the content of text elements are skipped. */
function* markupOf(text: string, from: number): Generator<Markup> {
  for (let at = text.indexOf('<', from); at !== -1; at = text.indexOf('<', at)) {
    const skipped = skipMarkup(text, at);
    if (skipped !== null) {
      if (/^<!doctype/i.test(text.slice(at, at + 9))) yield { name: '!doctype', attributes: '', end: skipped };
      at = skipped;
    } else if (/[a-z/]/i.test(text.charAt(at + 1))) {
      TAG.lastIndex = at;
      const tag = TAG.exec(text);
      // The tag never ends. Searching on behind it would make the search quadratic.
      if (!tag) return;
      const [whole, slash = '', rawName = '', attributes = ''] = tag;
      const name = `${slash}${rawName.toLowerCase()}`;
      const end = at + whole.length;
      yield { name, attributes, end };
      at = TEXT_ELEMENTS.has(name) ? afterText(text, end, name) : end;
    } else {
      at += 1;
    }
  }
}

/** The end of a comment, doctype or processing instruction that begins at `at`; null where none does. */
function skipMarkup(text: string, at: number): number | null {
  const isComment = text.startsWith('<!--', at);
  if (!isComment && text[at + 1] !== '!' && text[at + 1] !== '?') return null;
  const end = text.indexOf(isComment ? '-->' : '>', at + (isComment ? 4 : 2));
  return end === -1 ? text.length : end + (isComment ? 3 : 1);
}

function afterText(text: string, from: number, name: string): number {
  const end = new RegExp(`</${name}[\\s/>]`, 'gi');
  end.lastIndex = from;
  return end.exec(text)?.index ?? text.length;
}

/** Records a meta element and returns whether it declares the encoding. */
function readMeta(attributes: string, metas: Set<string>): boolean {
  let declaresEncoding = false;
  for (const [, name = '', double, single, bare] of attributes.matchAll(ATTRIBUTE)) {
    const value = (double ?? single ?? bare ?? '').trim().toLowerCase();
    const attribute = name.toLowerCase();
    if (attribute === 'property' || attribute === 'name') metas.add(value);
    if (attribute === 'charset' || (attribute === 'http-equiv' && value === 'content-type')) declaresEncoding = true;
  }
  return declaresEncoding;
}
