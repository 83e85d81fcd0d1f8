/** Guests: people without an account who prove an e-mail address by a code. Source: spec.md "Comments", contract.md §7. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { deleteOldGuests } from '../../../../src/features/data/comments/guests/rows.ts';
import { databaseKinds } from '../../../support/database.ts';
import { ask, type Cast, cast, codeFor, guest, must, openStage, outcome, type Stage } from './comment-stage.ts';

const HOUR_MS = 3_600_000;
let guests = 0;

describe.each(databaseKinds())('%s', (kind) => {
  let stage: Stage;
  let all: Cast;
  beforeAll(async () => {
    stage = await openStage(kind);
    all = await cast(stage.easel);
    await must(ask(stage.easel, all.artifact, all.owner, 'PUT', '/_config', { guestComments: true }));
  });
  afterAll(() => stage.close());

  const nobody = (path: string, body: object) => ask(stage.easel, all.artifact, undefined, 'POST', path, body);
  /** Moves the clock, because mails of one moment have no order: what sends the first may write its row after the second. */
  const start = (email: string) => {
    stage.easel.clock.advance(1);
    return nobody('/_guest/start', { email, name: 'Gail' });
  };
  const verify = (email: string, code: string) => nobody('/_guest/verify', { email, code });
  /** A new address. Moves the clock by an hour, so that no rate limit of an earlier test applies. */
  const someone = () => {
    stage.easel.clock.advance(HOUR_MS + 1);
    guests += 1;
    return `guest-${guests}@example.com`;
  };
  const wrong = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

  test('the code is only in the mail, and the token it buys can comment', async () => {
    const email = someone();
    const started = await start(email.toUpperCase());
    expect([started.status, started.body]).toEqual([202, { success: true, data: { sent: true } }]);
    const code = await codeFor(stage.easel, all.artifact, email);
    expect(code).toMatch(/^\d{6}$/);
    const { guestToken, expiresAt } = await must(verify(email, code));
    expect(guestToken).toMatch(/^sog_[0-9a-f]{64}$/);
    expect(Date.parse(expiresAt)).toBe(stage.easel.clock.nowMs() + LIMITS.guestTokenTtlMs);
    const said = await must(ask(stage.easel, all.artifact, { token: guestToken }, 'POST', '', { content: 'hello' }));
    expect([said.authorName, said.authorType]).toEqual(['Gail', 'guest']);
    const { you } = await must(ask(stage.easel, all.artifact, { token: guestToken }, 'GET', '/_people'));
    expect(you).toEqual({ id: said.authorId, ids: [said.authorId], name: 'Gail', type: 'guest', role: 'none' });
    // A code works once.
    expect(await outcome(verify(email, code))).toBe('400 CODE_INVALID');
    const stored = await stage.easel.sql`select token_sha256, email from comment_guest where email = ${email}`;
    expect(JSON.stringify(stored)).not.toContain(guestToken);
  });

  test('a code is void after five wrong attempts, and all refusals look the same', async () => {
    const email = someone();
    await must(start(email));
    const code = await codeFor(stage.easel, all.artifact, email);
    const refusals = new Set<string>();
    for (let tried = 0; tried < LIMITS.guestCodeTries; tried += 1) {
      const { request_id: _, ...refused } = (await verify(email, wrong(code))).body;
      refusals.add(JSON.stringify(refused));
    }
    const { request_id: _late, ...late } = (await verify(email, code)).body;
    const { request_id: _never, ...never } = (await verify('never-asked@example.com', code)).body;
    expect([...refusals, JSON.stringify(late), JSON.stringify(never)]).toEqual(Array(3).fill(JSON.stringify(late)));
    expect(late.code).toBe('CODE_INVALID');
    // A new code has new attempts and voids the old one.
    await must(start(email));
    const next = await codeFor(stage.easel, all.artifact, email);
    if (next !== code) expect(await outcome(verify(email, code))).toBe('400 CODE_INVALID');
    expect(await outcome(verify(email, next))).toBe('200');
  });

  test('concurrent attempts are all counted', async () => {
    const email = someone();
    await must(start(email));
    const code = await codeFor(stage.easel, all.artifact, email);
    await Promise.all(Array.from({ length: LIMITS.guestCodeTries }, () => verify(email, wrong(code))));
    expect(await outcome(verify(email, code))).toBe('400 CODE_INVALID');
    await must(start(email));
    const next = await codeFor(stage.easel, all.artifact, email);
    const outcomes = await Promise.all([1, 2, 3].map(() => outcome(verify(email, next))));
    expect(outcomes.sort()).toEqual(['200', '400 CODE_INVALID', '400 CODE_INVALID']);
  });

  test('a code expires after ten minutes, a token after thirty days', async () => {
    const email = someone();
    await must(start(email));
    const first = await codeFor(stage.easel, all.artifact, email);
    stage.easel.clock.advance(LIMITS.guestCodeTtlMs);
    expect(await outcome(verify(email, first))).toBe('400 CODE_INVALID');
    await must(start(email));
    stage.easel.clock.advance(LIMITS.guestCodeTtlMs - 1);
    const { guestToken } = await must(verify(email, await codeFor(stage.easel, all.artifact, email)));
    const write = () => ask(stage.easel, all.artifact, { token: guestToken }, 'POST', '', { content: 'x' });
    stage.easel.clock.advance(LIMITS.guestTokenTtlMs - 1);
    expect(await outcome(write())).toBe('201');
    stage.easel.clock.advance(1);
    expect((await write()).body).toMatchObject({ code: 'UNAUTHORIZED', reason: 'expired' });
  });

  test('proving the same address again gives the same guest, even after the sweep', async () => {
    const email = someone();
    const token = await guest(stage, all, email);
    const { id, authorId } = await must(ask(stage.easel, all.artifact, { token }, 'POST', '', { content: 'mine' }));
    stage.easel.clock.advance(LIMITS.guestTokenTtlMs + LIMITS.trashRetentionDays * 24 * HOUR_MS + 1);
    const tidied = () => {
      const nowMs = stage.easel.clock.nowMs();
      return deleteOldGuests(stage.easel.sql, nowMs, nowMs - LIMITS.trashRetentionDays * 24 * HOUR_MS);
    };
    await tidied();
    const again = await guest(stage, all, email, 'Gail the second');
    const edited = await must(ask(stage.easel, all.artifact, { token: again }, 'PATCH', `/${id}`, { content: 'still mine' }));
    expect([edited.authorId, edited.authorName]).toEqual([authorId, 'Gail']);
    await tidied();
    const left = await stage.easel.sql`select 1 from comment_guest where email = ${email}`;
    expect(left).toHaveLength(1);
    // On another artifact the same person gets another id.
    const other = await cast(stage.easel);
    const there = await guest(stage, other, email);
    const { authorId: elsewhere } = await must(ask(stage.easel, other.artifact, { token: there }, 'POST', '', { content: 'x' }));
    expect(elsewhere).not.toBe(authorId);
  });

  test('guests may comment only when the owner allows it', async () => {
    const { easel } = stage;
    const fresh = await cast(easel);
    const email = someone();
    const begin = () => outcome(ask(easel, fresh.artifact, undefined, 'POST', '/_guest/start', { email, name: 'Gail' }));
    expect(await begin()).toBe('403 FORBIDDEN');
    const token = await guest(stage, fresh, email);
    const write = () => outcome(ask(easel, fresh.artifact, { token }, 'POST', '', { content: 'x' }));
    expect(await write()).toBe('201');
    await must(ask(easel, fresh.artifact, fresh.owner, 'PUT', '/_config', { guestComments: false }));
    expect([await begin(), await write()]).toEqual(['403 FORBIDDEN', '401 AUTH_REQUIRED']);
    await must(ask(easel, fresh.artifact, fresh.owner, 'PUT', '/_config', { guestComments: true, enabled: false }));
    expect([await begin(), await write()]).toEqual(['403 COMMENTS_DISABLED', '403 COMMENTS_DISABLED']);
  });

  test('one e-mail address gets at most five codes an hour, across all artifacts', async () => {
    const email = someone();
    const other = await cast(stage.easel);
    await must(ask(stage.easel, other.artifact, other.owner, 'PUT', '/_config', { guestComments: true }));
    const outcomes = await Promise.all(
      Array.from({ length: LIMITS.guestCodesPerHourPerEmail + 3 }, (_, index) =>
        outcome(
          ask(stage.easel, index % 2 === 0 ? all.artifact : other.artifact, undefined, 'POST', '/_guest/start', { email, name: 'Gail' }),
        ),
      ),
    );
    expect(outcomes.filter((one) => one === '202')).toHaveLength(LIMITS.guestCodesPerHourPerEmail);
    expect(outcomes.filter((one) => one === '429 RATE_LIMITED')).toHaveLength(3);
    const refused = await start(email);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    stage.easel.clock.advance(HOUR_MS + 1);
    expect(await outcome(start(email))).toBe('202');
  });

  test('one network address can request at most twenty codes an hour', async () => {
    stage.easel.clock.advance(HOUR_MS + 1);
    for (let sent = 0; sent < LIMITS.guestCodesPerHourPerAddress; sent += 1) await must(start(someoneElse()));
    expect(await outcome(start(someoneElse()))).toBe('429 RATE_LIMITED');
    stage.easel.clock.advance(HOUR_MS + 1);
    expect(await outcome(start(someoneElse()))).toBe('202');
  });

  test('addresses, names and codes are validated', async () => {
    someone();
    for (const email of ['', 'x', 'a@b', 'two@example.com, three@example.com', 'line\n@example.com', `${'a'.repeat(250)}@example.com`]) {
      expect(await outcome(nobody('/_guest/start', { email, name: 'Gail' }))).toBe('400 INVALID_REQUEST');
    }
    for (const name of ['', ' ', 'two\nlines', 'x'.repeat(LIMITS.commentNameCharsMax + 1)]) {
      expect(await outcome(nobody('/_guest/start', { email: 'gail@example.com', name }))).toBe('400 INVALID_REQUEST');
    }
    for (const code of ['12345', '1234567', 'abcdef']) expect(await outcome(verify('gail@example.com', code))).toBe('400 INVALID_REQUEST');
  });
});

function someoneElse(): string {
  guests += 1;
  return `guest-${guests}@example.com`;
}
