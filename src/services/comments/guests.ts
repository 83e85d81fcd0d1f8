/** Guests: people without an account who prove an address of mail by a code, to comment on one artifact. Source: spec.md "Comments", contract.md §7. */
import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { guestsMay } from '../../../actors/comment-rules.ts';
import type { ActorRuntime } from '../../../actors/runtime.ts';
import { Failure } from '../../../protocol/errors.ts';
import { type ArtifactId, type GuestId, newId } from '../../../protocol/ids.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import { pageUrl } from '../../config.ts';
import type { Handlers } from '../../edge/call.ts';
import { SignupLimit } from '../../edge/limits.ts';
import { dateTime } from '../artifact-rows.ts';
import type { Queries, ServiceDeps } from '../deps.ts';
import { countMail, type Mail, queueMail } from '../mail/outbox.ts';

const HOUR_MS = 3_600_000;
const HOUR_S = 3600;
const CODES = 1_000_000;

export interface GuestDeps extends Pick<ServiceDeps, 'sql' | 'config'> {
  readonly runtime: Pick<ActorRuntime, 'ask'>;
  /** To be woken when mail was queued. */
  readonly mail: { wake(): void };
}

interface Asked {
  readonly artifactId: ArtifactId;
  readonly email: string;
  readonly nowMs: number;
}

export function guestHandlers(deps: GuestDeps): Handlers<'comments.guestStart' | 'comments.guestVerify'> {
  const { sql, config } = deps;
  const addresses = new SignupLimit(undefined, LIMITS.guestCodesPerHourPerAddress);
  return {
    'comments.guestStart': async ({ params: { artifactId }, body: { email, name }, head, address, nowMs }) => {
      await requireGuests(deps, artifactId);
      const spent = addresses.spend(address, nowMs);
      if (!spent.accepted) throw new Failure('RATE_LIMITED', { retryAfterS: spent.retryAfterS });
      const url = pageUrl(config, head?.slug ?? '');
      // Whatever the address is, the answer is the same: there is nothing to learn from it.
      await sql.begin((tx) => sendCode(tx, { artifactId, email, nowMs }, name, url));
      deps.mail.wake();
      return { reply: 'accepted', body: { success: true, data: { sent: true } } };
    },
    'comments.guestVerify': async ({ params: { artifactId }, body: { email, code }, nowMs }) => {
      await requireGuests(deps, artifactId);
      const asked = { artifactId, email, nowMs };
      const given = await sql.begin(async (tx) => {
        await oneByOne(tx, email);
        const name = await useCode(tx, asked, code);
        return name === null ? null : await insertGuest(tx, asked, name);
      });
      // Not from within: the try that was spent must stay spent.
      if (given === null) throw new Failure('CODE_INVALID', { param: 'code' });
      return { reply: 'ok', body: { success: true, data: given } };
    },
  };
}

/** Throws COMMENTS_DISABLED, FORBIDDEN. */
async function requireGuests({ runtime }: GuestDeps, artifactId: ArtifactId): Promise<void> {
  const settings = await runtime.ask(
    artifactId,
    ({ comments }) => comments.settings,
    ({ comments }) => comments.prepare(),
  );
  if (!settings.enabled) throw new Failure('COMMENTS_DISABLED');
  if (guestsMay(settings)) return;
  throw new Failure('FORBIDDEN', { message: 'Guests may not comment here.', hint: 'Send a token of an account.' });
}

/** Throws RATE_LIMITED. */
async function sendCode(tx: Queries, { artifactId, email, nowMs }: Asked, name: string, url: string): Promise<void> {
  await oneByOne(tx, email);
  const sent = await countMail(tx, { recipient: email, kinds: ['guest_code'], sinceMs: nowMs - HOUR_MS });
  if (sent >= LIMITS.guestCodesPerHourPerEmail) {
    throw new Failure('RATE_LIMITED', { message: 'Too many codes were sent to this address.', retryAfterS: HOUR_S });
  }
  const code = String(randomInt(CODES)).padStart(6, '0');
  await tx`
    insert into comment_guest_code (artifact_id, email, name, code_sha256, attempts_left, created_at_ms, expires_at_ms)
    values (${artifactId}, ${email}, ${name}, ${digest(artifactId, email, code)}, ${LIMITS.guestCodeTries}, ${nowMs}, ${nowMs + LIMITS.guestCodeTtlMs})
    on conflict (artifact_id, email) do update set name = excluded.name, code_sha256 = excluded.code_sha256,
      attempts_left = excluded.attempts_left, created_at_ms = excluded.created_at_ms, expires_at_ms = excluded.expires_at_ms`;
  await queueMail(tx, [codeMail(artifactId, email, code, url)], nowMs);
}

/** Nothing that the owner of the page or whoever asks has written: this goes to people who may not have asked for it. */
function codeMail(artifactId: ArtifactId, recipient: string, code: string, url: string): Mail {
  const text = `${code} is your code to comment on ${url}/\n\nIt is good for 10 minutes. If you did not ask for it, you need not do anything.\n`;
  return { artifactId, kind: 'guest_code', recipient, subject: `Your code: ${code}`, text };
}

/** Spends a try; the name that came with the code where it is right, and the code is gone. */
async function useCode(tx: Queries, { artifactId, email, nowMs }: Asked, code: string): Promise<string | null> {
  const [row] = await tx<{ name: string; code_sha256: Buffer; attempts_left: number; expires_at_ms: number }[]>`
    select name, code_sha256, attempts_left, expires_at_ms from comment_guest_code
    where artifact_id = ${artifactId} and email = ${email} for update`;
  if (row === undefined || row.attempts_left <= 0 || row.expires_at_ms <= nowMs) return null;
  const isRight = timingSafeEqual(row.code_sha256, digest(artifactId, email, code));
  if (isRight) await tx`delete from comment_guest_code where artifact_id = ${artifactId} and email = ${email}`;
  else await tx`update comment_guest_code set attempts_left = attempts_left - 1 where artifact_id = ${artifactId} and email = ${email}`;
  return isRight ? row.name : null;
}

/** The same guest as before where the address was proved here before. */
async function insertGuest(
  tx: Queries,
  { artifactId, email, nowMs }: Asked,
  name: string,
): Promise<{ guestToken: string; expiresAt: string }> {
  const [known] = await tx<{ id: GuestId }[]>`
    select id from comment_guest where artifact_id = ${artifactId} and email = ${email} limit 1`;
  const guestToken = `sog_${randomBytes(32).toString('hex')}`;
  const expiresAtMs = nowMs + LIMITS.guestTokenTtlMs;
  await tx`
    insert into comment_guest (id, artifact_id, email, name, token_id, token_sha256, created_at_ms, expires_at_ms)
    values (${known?.id ?? newId('guest')}, ${artifactId}, ${email}, ${name}, ${newId('token')},
      ${createHash('sha256').update(guestToken).digest()}, ${nowMs}, ${expiresAtMs})`;
  return { guestToken, expiresAt: dateTime(expiresAtMs) };
}

/** Of what is asked for one address at once each sees what came before it. */
async function oneByOne(tx: Queries, email: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`guest ${email}`}, 0))`;
}

function digest(artifactId: ArtifactId, email: string, code: string): Buffer {
  return createHash('sha256').update(`${artifactId} ${email} ${code}`).digest();
}

/** Codes that have expired, and tokens of guests who have a later one; how many. The last token of a guest keeps who the guest is. */
export async function deleteOldGuests(sql: Queries, nowMs: number, tokensExpiredBeforeMs: number): Promise<number> {
  const codes = await sql`delete from comment_guest_code where expires_at_ms <= ${nowMs}`;
  const tokens = await sql`
    delete from comment_guest g where g.expires_at_ms <= ${tokensExpiredBeforeMs} and exists (
      select 1 from comment_guest o where o.artifact_id = g.artifact_id and o.email = g.email and o.expires_at_ms > g.expires_at_ms
    )`;
  return codes.count + tokens.count;
}
