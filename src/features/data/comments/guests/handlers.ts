/** Handlers of guests: people without an account who prove an e-mail address by a code. Source: spec.md "Comments", contract.md §7. */
import { createHash, randomBytes, randomInt } from 'node:crypto';
import type { ActorRuntime } from '../../../../../actors/runtime/runtime.ts';
import { Failure } from '../../../../../protocol/core/errors.ts';
import { newId } from '../../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import { RATE_LIMITS } from '../../../../../protocol/core/rate-limits.ts';
import { networkOf } from '../../../../edge/address.ts';
import type { ArtifactCall, Handlers } from '../../../../edge/call.ts';
import { requireAccepted } from '../../../../edge/limits.ts';
import { countMail, queueMail } from '../../../../mail/outbox.ts';
import { pageUrl } from '../../../../platform/config.ts';
import { dateTime } from '../../../../platform/date-time.ts';
import type { LimiterDeps, Queries, ServiceDeps } from '../../../deps.ts';
import { askComments, type CommentCall } from '../turns.ts';
import { deleteCode, findGuest, type GuestAddress, insertGuestToken, lockAddress, putCode, readCode, spendAttempt } from './rows.ts';
import { assertCodeMayBeSent, assertGuestsMayComment, CODES, codeMail, codeOf, digestOf, isRight, isUsable } from './rules.ts';

const HOUR_MS = 3_600_000;

interface GuestDeps extends Pick<ServiceDeps, 'sql' | 'config'>, LimiterDeps {
  readonly runtime: Pick<ActorRuntime, 'ask'>;
  /** Woken after mail is queued. */
  readonly mail: { wake(): void };
}

interface Attempt extends GuestAddress {
  readonly nowMs: number;
}

export function guestHandlers(deps: GuestDeps): Handlers<'comments.guestStart' | 'comments.guestVerify'> {
  const { sql, config, limiters } = deps;
  return {
    'comments.guestStart': async (call) => {
      const { body, head, address, nowMs } = call;
      const { artifactId } = call.params;
      const { email, name } = body;
      await requireGuests(deps, call);
      requireAccepted(RATE_LIMITS.guestCode, await limiters.shared.spend(RATE_LIMITS.guestCode, networkOf(address)));
      const url = pageUrl(config, head.slug);
      await sql.begin((tx) => sendCode(tx, { artifactId, email, nowMs }, name, url));
      deps.mail.wake();
      // The answer is the same for every address, so that it does not reveal who is known here.
      return { reply: 'accepted', body: { success: true, data: { sent: true } } };
    },
    'comments.guestVerify': async (call) => {
      const { artifactId } = call.params;
      const { email, code } = call.body;
      const { nowMs } = call;
      await requireGuests(deps, call);
      const attempt = { artifactId, email, nowMs };
      const given = await sql.begin(async (tx) => {
        await lockAddress(tx, email);
        const name = await useCode(tx, attempt, code);
        return name === null ? null : await createToken(tx, attempt, name);
      });
      // Thrown after the transaction: a rollback would give the spent attempt back.
      if (given === null) throw new Failure('CODE_INVALID', { param: 'code' });
      return { reply: 'ok', body: { success: true, data: given } };
    },
  };
}

/** Throws COMMENTS_DISABLED, FORBIDDEN. */
async function requireGuests(deps: GuestDeps, call: CommentCall & Pick<ArtifactCall, 'head'>): Promise<void> {
  assertGuestsMayComment(await askComments(deps, call, ({ comments }) => comments.settings), call.head);
}

/** Throws RATE_LIMITED. */
async function sendCode(tx: Queries, attempt: Attempt, name: string, url: string): Promise<void> {
  const { artifactId, email, nowMs } = attempt;
  await lockAddress(tx, email);
  assertCodeMayBeSent(await countMail(tx, { recipient: email, kinds: ['guest_code'], sinceMs: nowMs - HOUR_MS }));
  const code = codeOf(randomInt(CODES));
  await putCode(tx, attempt, {
    name,
    code_sha256: digestOf(attempt, code),
    attempts_left: LIMITS.guestCodeTries,
    created_at_ms: nowMs,
    expires_at_ms: nowMs + LIMITS.guestCodeTtlMs,
  });
  await queueMail(tx, [codeMail(artifactId, email, code, url)], nowMs);
}

/** Consumes a right code and answers the name given with it. A wrong code spends an attempt and answers null. */
async function useCode(tx: Queries, attempt: Attempt, code: string): Promise<string | null> {
  const row = await readCode(tx, attempt);
  if (row === undefined || !isUsable(row, attempt.nowMs)) return null;
  if (!isRight(row, digestOf(attempt, code))) {
    await spendAttempt(tx, attempt);
    return null;
  }
  await deleteCode(tx, attempt);
  return row.name;
}

/** An address that was proved here before keeps its guest id. */
async function createToken(tx: Queries, attempt: Attempt, name: string): Promise<{ guestToken: string; expiresAt: string }> {
  const guestToken = `sog_${randomBytes(32).toString('hex')}`;
  const expiresAtMs = attempt.nowMs + LIMITS.guestTokenTtlMs;
  await insertGuestToken(tx, attempt, {
    guestId: (await findGuest(tx, attempt)) ?? newId('guest'),
    name,
    tokenId: newId('token'),
    tokenSha256: createHash('sha256').update(guestToken).digest(),
    createdAtMs: attempt.nowMs,
    expiresAtMs,
  });
  return { guestToken, expiresAt: dateTime(expiresAtMs) };
}
