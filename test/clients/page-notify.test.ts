/** `easel.notifyOwner`: the work of a visitor, and a message that reaches the owner of a page. */
import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LIMITS } from '../../protocol/core/limits.ts';
import { EaselError } from '../../src/clients/page/errors.ts';
import { notifierOf } from '../../src/clients/page/notify.ts';
import { firstWord, solveProof } from '../../src/clients/page/proof.ts';
import { Transport } from '../../src/clients/page/transport.ts';
import { type MailStage, mailStage, publishPage } from '../features/automation/email/mail-stage.ts';
import { person } from '../features/workspaces/workspace-stage.ts';

describe('the proof of work', () => {
  it('has the digests of SHA-256 for every length that two and more blocks have', () => {
    for (let length = 0; length < 200; length += 1) {
      const text = 'k'.repeat(length);
      expect(firstWord(text)).toBe(createHash('sha256').update(text).digest().readUInt32BE(0));
    }
  });

  it('is found in pieces between which the page runs, and ends with the signal', async () => {
    let pauses = 0;
    const wait = async (_ms: number, signal?: AbortSignal) => {
      pauses += 1;
      signal?.throwIfAborted();
    };
    const solution = await solveProof('a challenge', LIMITS.mailProofBits, { wait });
    expect(createHash('sha256').update(`a challenge.${solution}`).digest().readUInt32BE(0) >>> (32 - LIMITS.mailProofBits)).toBe(0);
    expect(pauses).toBe(Math.floor(Number(solution) / 3000));
    const gone = solveProof('another', 32, { wait, signal: AbortSignal.abort(new Error('gone')) });
    await expect(gone).rejects.toThrow('gone');
  });
});

describe('easel.notifyOwner', () => {
  let stage: MailStage;
  beforeAll(async () => {
    stage = await mailStage();
  });
  afterAll(() => stage.close());

  const notifierFor = (artifactId: string, token?: string) => {
    const around = { fetch, wait: async () => setImmediate(), random: () => 0 };
    const transport = new Transport(
      { artifactId, baseUrl: stage.easel.baseUrl, ...(token !== undefined && { token }) },
      around,
      () => undefined,
    );
    return notifierOf(transport, around);
  };

  it('works for visitors by itself where the owner allows it, and says what is missing where not', async () => {
    const owner = await person(stage.easel, 'olive');
    await stage.easel.sql`update account set tier = 'pro' where id = ${owner.userId}`;
    const open = await publishPage(stage.easel, owner, { allow_anon_email: true });
    const sent = await notifierFor(open.id)('Is it open on Mondays?');
    expect(sent).toEqual({ sent: true, messageId: expect.stringMatching(/^mlb_/) });
    await expect.poll(() => stage.smtp.taken.at(-1)?.text).toContain('Is it open on Mondays?');
    const closed = await publishPage(stage.easel, owner);
    const refused = await notifierFor(closed.id)({ text: 'Hello' }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(EaselError);
    expect(refused).toMatchObject({ code: 'UNAUTHORIZED', hint: expect.stringContaining('allow_anon_email') });
    const visitor = await person(stage.easel, 'vera');
    expect((await notifierFor(closed.id, visitor.token)({ text: 'Hello', replyTo: 'vera@example.net' })).sent).toBe(true);
  });
});
