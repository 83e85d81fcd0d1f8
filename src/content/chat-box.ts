/** The chat box of a page: the pages that get its script, and what the script is told. */
import type { ArtifactId } from '../../protocol/core/ids.ts';
import { escapeAttribute, withTags } from './html-head.ts';

const CHAT_PATH = '/_easel/chat.js';

/** What the box needs before its first request. */
export interface ChatOptions {
  /** Empty for the usual words. */
  readonly greeting: string;
}

/** `isEnabled`: null where nobody has ever turned the chat on or off. Returns null where the page gets no box. */
export function chatOf(isEnabled: boolean | null, greeting: string | null): ChatOptions | null {
  return isEnabled === true ? { greeting: greeting ?? '' } : null;
}

/**
 * The page with the script of the box, or the same object where it cannot have one. `isBeside`: the comments have their button in the same corner.
 * The script is added as that of the comments is, and for the same reason stands first in the head.
 */
export function withChat(html: Buffer, artifactId: ArtifactId, { greeting }: ChatOptions, isBeside: boolean): Buffer {
  const told = Object.entries({ artifact: artifactId, greeting, beside: isBeside });
  const attributes = told.map(([name, value]) => ` data-${name}="${escapeAttribute(String(value))}"`).join('');
  return withTags(html, () => `<script src="${CHAT_PATH}" defer${attributes}></script>`);
}
