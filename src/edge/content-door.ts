/** Hands requests for a page's own origin to the content server. Nothing of the API is read there, no cookie of it either. */
import type { Pass } from '../../actors/access.ts';
import { Failure } from '../../protocol/errors.ts';
import type { ArtifactId } from '../../protocol/ids.ts';
import { CONTENT_BODY_BYTES_MAX, type ContentReply, type ContentRequest } from '../content/types.ts';
import { type Answer, headerLines } from './answer.ts';
import type { BodyIntake } from './body-intake.ts';
import { chain } from './chain.ts';
import type { Exchange } from './exchange.ts';

export interface ContentDoor {
  handle(request: ContentRequest): ContentReply | Promise<ContentReply>;
  /** What the cookies sent to the host of `slug` open of this artifact, whose page that must be. */
  pass(slug: string, artifactId: ArtifactId, cookies: string): Pass | null | Promise<Pass | null>;
}

// Replies share their headers, so that the text of them is made once.
const texts = new WeakMap<ContentReply['headers'], string>();

export function contentAnswer(content: ContentDoor, bodies: BodyIntake, exchange: Exchange, slug: string): Answer | Promise<Answer> {
  const { method, path, query, headers } = exchange;
  const length = headers.contentLength;
  if (length > CONTENT_BODY_BYTES_MAX) throw new Failure('PAYLOAD_TOO_LARGE');
  // It must be received from this turn on, whenever the content server asks for it.
  const body = length > 0 ? bodies.read(exchange) : undefined;
  const request: ContentRequest = {
    method,
    slug,
    path,
    query,
    get address() {
      return exchange.address;
    },
    header: (name) => headers.get(name),
    ...(body !== undefined && { body: () => body }),
  };
  return chain(content.handle(request), (reply) => ({
    status: reply.status,
    type: undefined,
    payload: reply.body,
    etag: undefined,
    lines: linesOf(reply.headers),
  }));
}

function linesOf(headers: ContentReply['headers']): string {
  const known = texts.get(headers);
  if (known !== undefined) return known;
  const text = headers.map(([name, value]) => headerLines({ [name]: value })).join('');
  texts.set(headers, text);
  return text;
}
