/** The meta tags from which chats and social networks make a link preview. They come from the artifact's social fields where the page has none. */
import { escapeAttribute, withTags } from './html-head.ts';
import type { SocialFields } from './sites.ts';

export interface CardSource {
  readonly name: string;
  readonly social: SocialFields;
  /** Absolute URL of the page. */
  readonly url: string;
}

/** The page with the tags, or the same object where nothing is added. */
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
