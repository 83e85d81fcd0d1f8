/** The comment overlay: the pages that get its script, and the settings that the script gets. Source: spec.md "Comment settings" (overlayEnabled). */
import { type CommentSettings, DEFAULT_COMMENT_SETTINGS, guestsMay } from '../../actors/comments/comment-rules.ts';
import type { ArtifactId, VersionId } from '../../protocol/core/ids.ts';
import type { IdentityMode } from '../../protocol/data/comment-settings.ts';
import { escapeAttribute, withTags } from './html-head.ts';

const OVERLAY_PATH = '/_easel/overlay.js';

/** Settings that the overlay needs before its first request. */
export interface OverlayOptions {
  readonly identity: IdentityMode;
  readonly replies: boolean;
  readonly guests: boolean;
}

export interface OverlayPage {
  readonly artifactId: ArtifactId;
  readonly versionId: VersionId;
  /** Path of the file, which its comments refer to, whatever URL it was opened by. */
  readonly path: string;
}

/** `stored`: the stored comment settings, null where they were never changed. `guestsByFolder`: what the folder says of guests. Returns null where the page gets no overlay. */
export function overlayOf(stored: Partial<CommentSettings> | null, guestsByFolder: boolean): OverlayOptions | null {
  const settings = { ...DEFAULT_COMMENT_SETTINGS, ...stored };
  if (!settings.enabled || !settings.overlayEnabled) return null;
  return { identity: settings.identityMode, replies: settings.allowReplies, guests: guestsMay(settings, guestsByFolder) };
}

/**
 * The page with the overlay's script, or the same object where it cannot have one. The script stands first in the head, so that a policy in a
 * meta element of the page does not block it.
 */
export function withOverlay(html: Buffer, page: OverlayPage, { identity, replies, guests }: OverlayOptions): Buffer {
  const told = Object.entries({ artifact: page.artifactId, version: page.versionId, page: page.path, identity, replies, guests });
  const attributes = told.map(([name, value]) => ` data-${name}="${escapeAttribute(String(value))}"`).join('');
  return withTags(html, () => `<script src="${OVERLAY_PATH}" defer${attributes}></script>`);
}
