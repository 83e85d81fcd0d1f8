/** The tags that are added to a page: the card of link previews on the entry page, the comment overlay and the chat box on all. */
import { type Config, pageUrl } from '../platform/config.ts';
import { withChat } from './chat-box.ts';
import { withLinkPreview } from './link-preview.ts';
import { withOverlay } from './overlay.ts';
import type { Site, SiteFile, SiteVersion } from './sites.ts';

type Tagger = (original: Buffer) => Buffer;

/** Null where nothing is added. */
export function taggerOf(site: Site, version: SiteVersion, page: SiteFile, config: Config): Tagger | null {
  const { artifactId, name, social, overlay, chat } = site;
  const hasCard = page.path === version.entrypoint && (social.title !== null || social.description !== null || social.imageUrl !== null);
  if ((!hasCard && overlay === null && chat === null) || !/^text\/html\b/i.test(page.mime)) return null;
  return (original) => {
    const carded = hasCard ? withLinkPreview(original, { name, social, url: `${pageUrl(config, site.slug)}/` }) : original;
    const chatted = chat === null ? carded : withChat(carded, artifactId, chat, overlay !== null);
    return overlay === null ? chatted : withOverlay(chatted, { artifactId, versionId: version.id, path: page.path }, overlay);
  };
}
