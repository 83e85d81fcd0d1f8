/** The tags by which chats and social networks show a card for a link: from the artifact's social fields, where the page has none of its own. */
import { escapeAttribute, withTags } from './html-head.ts';
import type { SocialFields } from './sites.ts';

export interface CardSource {
  readonly name: string;
  readonly social: SocialFields;
  /** Absolute address of the page. */
  readonly url: string;
}

/** The page with its tags, or the very same bytes where there is nothing to add. */
export function withLinkPreview(page: Buffer, card: CardSource): Buffer {
  const { title, description, imageUrl } = card.social;
  if (title === null && description === null && imageUrl === null) return page;
  return withTags(page, ({ metas }) => {
    const missing = cardTags(card).filter(([property]) => !metas.has(property));
    const html = missing.map(([property, content]) => {
      const attribute = property.startsWith('og:') ? 'property' : 'name';
      return `<meta ${attribute}="${property}" content="${escapeAttribute(content)}">`;
    });
    return html.join('');
  });
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
