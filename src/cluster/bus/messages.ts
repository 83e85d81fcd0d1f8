/** What nodes say to each other about facts, as text on one channel of Redis. */
import { z } from 'zod';
import type { ArtifactId, TokenId, UserId, WorkspaceId } from '../../../protocol/core/ids.ts';
import type { Fact } from '../../platform/bus.ts';

/** More are sent in several messages. */
export const FACTS_PER_MESSAGE_MAX = 100;
/** The same for long ones: a message is read in one go. */
export const MESSAGE_CHARS_MAX = 256 * 1024;
/** A fact that is longer is not sent: its number is skipped, so that the others notice a gap. */
export const FACT_CHARS_MAX = 256 * 1024;

/** The ids come from nodes of the same installation, which have checked them: only their shape is checked. */
const id = <T extends string>() => z.string().min(1).max(100) as unknown as z.ZodType<T>;
const aboutArtifact = { artifactId: id<ArtifactId>(), slugs: z.array(z.string()) };

const factSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('artifact.changed'), ...aboutArtifact }),
  z.object({ kind: z.literal('artifact.gone'), ...aboutArtifact }),
  z.object({ kind: z.literal('artifact.replaced'), ...aboutArtifact }),
  z.object({ kind: z.literal('dataset.changed'), artifactId: id<ArtifactId>() }),
  z.object({ kind: z.literal('token.revoked'), tokenId: id<TokenId>(), credential: z.string() }),
  z.object({ kind: z.literal('account.changed'), userId: id<UserId>() }),
  z.object({ kind: z.literal('person.changed'), userIds: z.array(id<UserId>()) }),
  z.object({ kind: z.literal('workspace.changed'), workspaceId: id<WorkspaceId>() }),
  z.object({ kind: z.literal('jobs.changed'), artifactId: id<ArtifactId>() }),
  z.object({ kind: z.literal('folder.changed'), workspaceId: id<WorkspaceId>().nullable(), ownerId: id<UserId>().nullable() }),
  z.object({ kind: z.literal('instance.changed') }),
  z.object({ kind: z.literal('notices.changed'), userIds: z.array(id<UserId>()) }),
]) satisfies z.ZodType<Fact>;

const envelopeSchema = z.object({
  /** The address at which peers reach the sender. */
  node: z.string().min(1).max(300),
  /** The sender's incarnation as a member of the cluster; null while it is none. */
  incarnation: z.string().min(1).max(100).nullable(),
  /** New at each start of the sender: the numbers of its facts begin again. */
  epoch: z.string().min(1).max(64),
  /** Number of the last fact that it has sent, this message included; they begin with 1. */
  seq: z.int().min(0),
  /** In order; the last has the number `seq`. None in a heartbeat. */
  facts: z.array(z.unknown()).max(FACTS_PER_MESSAGE_MAX),
  /** It has stopped and tells nothing more. */
  bye: z.boolean().optional(),
});

export interface Envelope {
  readonly node: string;
  readonly incarnation: string | null;
  readonly epoch: string;
  readonly seq: number;
  readonly bye?: boolean | undefined;
}
export interface FactMessage extends Envelope {
  readonly facts: readonly Fact[];
}

/** `damaged`: the sender and its number are known, its facts are not. A newer release may tell kinds of facts that this one does not know. */
export type Received =
  | { readonly kind: 'message'; readonly message: FactMessage }
  | { readonly kind: 'damaged'; readonly envelope: Envelope; readonly why: string }
  | { readonly kind: 'unreadable'; readonly why: string };

export function parseMessage(text: string): Received {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { kind: 'unreadable', why: String(error) };
  }
  const envelope = envelopeSchema.safeParse(value);
  if (!envelope.success) return { kind: 'unreadable', why: envelope.error.message };
  const facts = z.array(factSchema).safeParse(envelope.data.facts);
  if (!facts.success) return { kind: 'damaged', envelope: envelope.data, why: facts.error.message };
  return { kind: 'message', message: { ...envelope.data, facts: facts.data } };
}

/** The numbered facts as JSON, so that each is written once whatever the number of attempts. */
export function messageText({ node, incarnation, epoch, seq, bye }: Envelope, facts: readonly string[]): string {
  const sender = `"node":${JSON.stringify(node)},"incarnation":${JSON.stringify(incarnation)},"epoch":"${epoch}"`;
  return `{${sender},"seq":${seq},"facts":[${facts.join()}]${bye === true ? ',"bye":true' : ''}}`;
}
