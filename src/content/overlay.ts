/** The comment overlay: which pages get its script, and what the script is told of the page. Source: spec.md "Comment settings" (overlayEnabled). */
import { type CommentSettings, DEFAULT_COMMENT_SETTINGS, guestsMay } from '../../actors/comment-rules.ts';
import type { ArtifactId, VersionId } from '../../protocol/ids.ts';
import type { IdentityMode } from '../../protocol/schemas/comment.ts';
import { escapeAttribute, withTags } from './html-head.ts';

const OVERLAY_PATH = '/_easel/overlay.js';

/** What the overlay has to know before it asks anybody. */
export interface OverlayOptions {
  readonly identity: IdentityMode;
  readonly replies: boolean;
  readonly guests: boolean;
}

export interface OverlayPage {
  readonly artifactId: ArtifactId;
  readonly versionId: VersionId;
  /** Path of the file: what its comments are about, whatever address it was opened by. */
  readonly path: string;
}

/** `stored`: the comment settings as they are kept, null where nobody has changed them. Null where the page is to stay as it is. */
export function overlayOf(stored: Partial<CommentSettings> | null): OverlayOptions | null {
  const settings = { ...DEFAULT_COMMENT_SETTINGS, ...stored };
  if (!settings.enabled || !settings.overlayEnabled) return null;
  return { identity: settings.identityMode, replies: settings.allowReplies, guests: guestsMay(settings) };
}

/**
 * The page with the script of the overlay, or the very same bytes where it cannot have it. It stands before what the page says itself, so that
 * a policy in a meta element of the page does not keep it from being loaded.
 */
export function withOverlay(html: Buffer, page: OverlayPage, { identity, replies, guests }: OverlayOptions): Buffer {
  const told = Object.entries({ artifact: page.artifactId, version: page.versionId, page: page.path, identity, replies, guests });
  const attributes = told.map(([name, value]) => ` data-${name}="${escapeAttribute(String(value))}"`).join('');
  return withTags(html, () => `<script src="${OVERLAY_PATH}" defer${attributes}></script>`);
}
