/** The chat of a page. Its visitors are nobody: who has the secret of a chat reads it and goes on with it. */
import { createHash, randomBytes } from 'node:crypto';
import type { z } from 'zod';
import type { ArtifactHead, Principal } from '../../../../actors/access/access.ts';
import { checkConditions } from '../../../../actors/json/json-conditions.ts';
import type { pageChatMessage } from '../../../../protocol/business/page-chat.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { TICKET_LIMITS } from '../../../../protocol/core/support-rate-limits.ts';
import type { Endpoints } from '../../../../protocol/table.ts';
import { networkOf } from '../../../edge/address.ts';
import { bodyEtag } from '../../../edge/answer.ts';
import type { Call, Handlers } from '../../../edge/call.ts';
import { requireAccepted } from '../../../edge/limits.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { SigningKey } from '../../../storage/signing-key.ts';
import { lockRow } from '../../artifacts/artifacts/rows.ts';
import { newChallenge, requireProof } from '../../automation/email/proof.ts';
import { readSender } from '../../automation/email/rows.ts';
import type { Queries } from '../../deps.ts';
import { audit } from '../../workspaces/audit/audit.ts';
import { type SupportDeps, tellAll } from './handlers.ts';
import { firstLine } from './inbound/take-chat.ts';
import { listMessages, type MessageRow, numberOf } from './message-rows.ts';
import { type PageChatSettings, readPageChat, writePageChat } from './page-chat-rows.ts';
import { findBySecret, lockTicket, readTicket } from './rows.ts';
import { type NewMessage, NO_FILES, openTicket, type Written, writeAsCustomer } from './tickets.ts';

type Ids = Extract<keyof Endpoints, `pageChat.${string}`>;
type Writing = Call<Endpoints['pageChat.write']>;

const SECRET_BYTES = 32;

export function pageChatHandlers(deps: SupportDeps & { readonly proofKey: SigningKey }): Handlers<Ids> {
  const { sql, bus, proofKey } = deps;
  return {
    'pageChat.getConfig': async ({ head }) => shown(await readPageChat(sql, head.id)),
    'pageChat.putConfig': async (call) => {
      const { head, body, nowMs } = call;
      await sql.begin(async (tx) => {
        await lockRow(tx, head.id);
        checkConditions({ etag: shown(await readPageChat(tx, head.id)).etag }, call);
        await writePageChat(tx, head.id, body, nowMs);
        if (head.workspaceId === null) return;
        const target = { type: 'artifact', id: head.id, name: head.slug };
        await audit(tx, call, { workspaceId: head.workspaceId, action: 'page_chat.configure', target, detail: { enabled: body.enabled } });
      });
      // The content server keeps whether the page has the box.
      bus.tell({ kind: 'artifact.changed', artifactId: head.id, slugs: [head.slug] });
      return shown(body);
    },
    'pageChat.challenge': async ({ head, nowMs }) => {
      if (!(await readPageChat(sql, head.id)).enabled) throw new Failure('SUPPORT_CHAT_OFF');
      const { challenge, expiresAtMs } = newChallenge(await proofKey.bytes(), head.id, nowMs);
      return { reply: 'ok', body: { success: true, data: { challenge, bits: LIMITS.mailProofBits, expiresAt: dateTime(expiresAtMs) } } };
    },
    'pageChat.write': async (call) => {
      // Before the transaction: on the embedded database a query beside an open one waits for its end.
      const key = await proofKey.bytes();
      const secret = call.body.secret ?? randomBytes(SECRET_BYTES).toString('base64url');
      const { ticket, message, facts } = await sql.begin((tx) => write(tx, deps, call, secret, key));
      tellAll(deps, facts);
      return { reply: 'created', body: { success: true, data: { secret, status: ticket.status, message: presented(message) } } };
    },
    'pageChat.read': async ({ head, body }) => {
      const id = await findBySecret(sql, head.id, digestOf(body.secret));
      const ticket = id === null ? null : await readTicket(sql, id);
      if (ticket === null) throw new Failure('TICKET_NOT_FOUND', { param: 'secret' });
      const rows = await listMessages(sql, ticket.id, false, await numberOf(sql, ticket.id, body.after), LIMITS.pageMax + 1);
      const messages = rows.slice(0, LIMITS.pageMax).map(presented);
      return { reply: 'ok', body: { success: true, data: { status: ticket.status, messages, hasMore: rows.length > messages.length } } };
    },
  };
}

function shown({ enabled, greeting }: PageChatSettings) {
  const body = { success: true, data: { enabled, greeting } } as const;
  return { reply: 'ok', body, etag: bodyEtag(body) } as const;
}

function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

const AUTHORS = { customer: 'visitor', staff: 'maker', system: 'system' } as const;

function presented({ id, authorKind, authorName, body, createdAtMs }: MessageRow): z.input<typeof pageChatMessage> {
  return { id, author: AUTHORS[authorKind], name: authorName, text: body, createdAt: dateTime(createdAtMs) };
}

/** Throws SUPPORT_CHAT_OFF, PROOF_INVALID, TICKET_NOT_FOUND, RATE_LIMITED. */
async function write(tx: Queries, deps: SupportDeps, call: Writing, secret: string, key: Uint8Array): Promise<Written> {
  const { head, body, nowMs, address } = call;
  if (!(await readPageChat(tx, head.id)).enabled) throw new Failure('SUPPORT_CHAT_OFF');
  const isFirst = body.secret === undefined;
  const known = isFirst ? null : await findBySecret(tx, head.id, digestOf(secret));
  if (!isFirst && known === null) throw new Failure('TICKET_NOT_FOUND', { param: 'secret' });
  const proofSha256 = isFirst && !(await isProved(tx, call.principal)) ? requireProof(key, head.id, body.proof, nowMs) : null;
  const ticket = known === null ? null : await lockTicket(tx, known);
  await spendMessage(tx, deps, head, networkOf(address));
  const message: NewMessage = {
    ...{ channel: 'chat', authorId: null, authorName: body.name ?? ticket?.requesterName ?? null, body: body.text, quoted: null },
    ...{ files: NO_FILES, mailMessageId: null, proofSha256, nowMs },
  };
  const spendNew = async () => {
    const { ticketsOfPage } = TICKET_LIMITS;
    requireAccepted(
      ticketsOfPage,
      await deps.limiters.shared.spendIn(tx, ticketsOfPage, head.id),
      'Many chats were begun on this page today.',
    );
  };
  if (ticket !== null) return writeAsCustomer(tx, deps, ticket, message, spendNew);
  await spendNew();
  return openTicket(tx, deps, {
    ...{ subject: firstLine(body.text), priority: 'normal', workspaceId: null, artifactId: head.id, followsId: null, chatThread: null },
    // Who they are is what they say: a page must not learn the account or address of its visitors by a message in their name.
    ...{ requesterId: null, requesterEmail: body.email ?? null, requesterName: body.name ?? null },
    ...{ chatSecretSha256: digestOf(secret), message },
  });
}

/** Always in this order, so that two transactions do not wait for each other. */
async function spendMessage(tx: Queries, { limiters }: SupportDeps, head: ArtifactHead, network: string): Promise<void> {
  const { chatsOfNetwork, chatsOfPage } = TICKET_LIMITS;
  requireAccepted(chatsOfNetwork, await limiters.shared.spendIn(tx, chatsOfNetwork, network), 'Many messages came from this network.');
  requireAccepted(chatsOfPage, await limiters.shared.spendIn(tx, chatsOfPage, head.id), 'Many messages were written on this page.');
}

/** Whoever has proved no address counts as a visitor, because accounts without one are free. */
async function isProved(tx: Queries, principal: Principal): Promise<boolean> {
  return principal.kind === 'user' && (await readSender(tx, principal.userId))?.isProved === true;
}
