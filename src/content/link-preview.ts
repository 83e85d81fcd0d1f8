/** The tags by which chats and social networks show a card for a link: from the artifact's social fields, where the page has none of its own. */
import { readHead } from './html-head.ts';
import type { SocialFields } from './sites.ts';

/** A page above this size keeps its bytes: its tags would be looked for in vain by readers that stop far earlier. */
const TAGGED_PAGE_BYTES_MAX = 4 * 1024 * 1024;

export interface CardSource {
  readonly name: string;
  readonly social: SocialFields;
  /** Absolute address of the page. */
  readonly url: string;
}

/** The page with its tags, or the very same bytes where there is nothing to add. */
export function withLinkPreview(page: Buffer, card: CardSource): Buffer {
  const { title, description, imageUrl } = card.social;
  const isSet = title !== null || description !== null || imageUrl !== null;
  if (!isSet || page.length > TAGGED_PAGE_BYTES_MAX || isUtf16(page)) return page;
  const { metas, insertAt } = readHead(page.toString('latin1'));
  const tags = cardTags(card).filter(([property]) => !metas.has(property));
  if (tags.length === 0) return page;
  const html = tags.map(([property, content]) => {
    const attribute = property.startsWith('og:') ? 'property' : 'name';
    return `<meta ${attribute}="${property}" content="${escapeAttribute(content)}">`;
  });
  return Buffer.concat([page.subarray(0, insertAt), Buffer.from(html.join(''), 'latin1'), page.subarray(insertAt)]);
}

function cardTags({ name, social, url }: CardSource): [property: string, content: string][] {
  const tags: [string, string][] = [
    ['og:type', 'website'],
    ['og:title', social.title ?? name],
    ['og:url', url],
    ['twitter:card', social.imageUrl === null ? 'summary' : 'summary_large_image'],
  ];
  if (social.description !== null) tags.push(['og:description', social.description]);
  if (social.imageUrl !== null) tags.push(['og:image', social.imageUrl]);
  return tags;
}

/** Pure ASCII, so that it reads the same in whatever encoding the page has. */
function escapeAttribute(text: string): string {
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
