/** What an answer is made from, and what may be cited. */
import type { z } from 'zod';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { answered, citation } from '../../../../protocol/library/ask.ts';

export interface Source {
  readonly artifactId: ArtifactId;
  readonly title: string;
  readonly url: string;
  readonly heading: string | null;
  readonly text: string;
}

export function sourceOf({ artifactId, title, url, heading, text }: Source): Source {
  return { artifactId, title, url, heading, text };
}

export type Citation = z.input<typeof citation>;
export type Answered = z.input<typeof answered>;

/** Word for word what the source says. */
export function citationOf({ artifactId, title, url, text }: Source): Citation {
  return { artifact_id: artifactId, title, url, quote: cut(text) };
}

/** Behind a word, and not in the middle of a character. */
function cut(text: string): string {
  if (text.length <= LIMITS.askQuoteCharsMax) return text;
  const part = text.slice(0, LIMITS.askQuoteCharsMax);
  const space = part.lastIndexOf(' ');
  return (space > part.length / 2 ? part.slice(0, space) : part).replace(/[\ud800-\udbff]$/, '');
}
