/** Passes requests for a page's own origin to the content server, which reads no credential or cookie of the API. */
import { Failure } from '../../protocol/core/errors.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import { CONTENT_BODY_BYTES_MAX, type ContentReply, type ContentRequest } from '../content/types.ts';
import { type Answer, headerLines } from './answer.ts';
import { LARGE_BYTES } from './answers-in-flight.ts';
import type { BodyIntake } from './body-intake.ts';
import { chain } from './chain.ts';
import type { Exchange } from './exchange.ts';
import type { Admittance } from './open-access.ts';
import { callerOf, type PageCaller } from './page-caller.ts';

/** Who sees a page. */
export interface Visitor extends PageCaller {
  readonly artifactId: ArtifactId;
}

const READS_PAGE = { who: 'artifact', param: 'slug', need: 'data:read', scope: 'data:read' } as const;

export interface ContentDoor {
  /** The visitor of the page with this slug; null where there is none. */
  visitor(slug: string, cookies: string): Visitor | null | Promise<Visitor | null>;
  handle(request: ContentRequest): ContentReply | Promise<ContentReply>;
  /** Who calls for the data of this artifact, by the cookies sent to the host of `slug`, its page. */
  caller(slug: string, artifactId: ArtifactId, cookies: string): PageCaller | Promise<PageCaller>;
}

// Replies share their header objects, so the text of each is made once.
const texts = new WeakMap<ContentReply['headers'], string>();

export function contentAnswer(content: ContentDoor, bodies: BodyIntake, exchange: Exchange, slug: string): Answer | Promise<Answer> {
  const { method, path, query, headers } = exchange;
  const length = headers.contentLength;
  if (length > CONTENT_BODY_BYTES_MAX) throw new Failure('PAYLOAD_TOO_LARGE');
  // The body must be received from this turn on, even if the content server asks for it later.
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
  return chain(content.handle(request), (reply) => {
    const { status, body: payload } = reply;
    const answer: Answer = { status, type: undefined, payload, isShared: true, etag: undefined, lines: linesOf(reply.headers) };
    if ((payload?.length ?? 0) <= LARGE_BYTES) return answer;
    // A slow reader takes a large file for minutes, and may lose the access meanwhile.
    return chain(content.visitor(slug, headers.get('cookie')), (visitor) => {
      exchange.admittance = visitor === null ? undefined : admittanceOf(visitor);
      return answer;
    });
  });
}

function admittanceOf(visitor: Visitor): Admittance {
  return { principal: callerOf(visitor), artifactId: visitor.artifactId, access: READS_PAGE, role: 'none', seat: undefined, reads: true };
}

function linesOf(headers: ContentReply['headers']): string {
  const known = texts.get(headers);
  if (known !== undefined) return known;
  const text = headers.map(([name, value]) => headerLines({ [name]: value })).join('');
  texts.set(headers, text);
  return text;
}
