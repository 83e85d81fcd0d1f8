/** A dual-stack listener sees IPv4 visitors under IPv6 addresses. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LIMITS } from '../../protocol/core/limits.ts';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { wire } from '../support/page-requests.ts';
import { clientOf, publishSite } from '../support/publishing.ts';

let easel: TestEasel;
beforeAll(async () => {
  easel = await startTestEasel({ settings: { HOST: '::' } });
});
afterAll(() => easel.close());

describe('with HOST=:: each IPv4 visitor has limits of its own', () => {
  it('for passwords of pages', async () => {
    const { token } = await easel.newUser('team');
    const index = new Map([['index.html', Buffer.from('treasure')]]);
    await publishSite(clientOf(easel, token), index, { slug: 'guarded', visibility: 'password', password: 'open sesame' });
    const host = new URL(easel.contentUrl('guarded')).host;
    const submit = (from: string, password: string) =>
      wire(easel.port, host, '/_easel/unlock', {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ password, to: '/' }).toString(),
        from,
      });
    for (let n = 0; n < 10; n++) expect((await submit('127.0.0.2', `guess ${n}`)).status).toBe(401);
    expect((await submit('127.0.0.2', 'open sesame')).status).toBe(429);
    expect((await submit('127.0.0.3', 'open sesame')).status).toBe(303);
  });

  it('for new accounts', async () => {
    const signUp = (from: string) => wire(easel.port, `localhost:${easel.port}`, '/v1/auth/create-account', { method: 'POST', from });
    for (let n = 0; n < LIMITS.accountsPerHourPerAddress; n++) expect((await signUp('127.0.0.2')).status).toBe(201);
    expect((await signUp('127.0.0.2')).status).toBe(429);
    expect((await signUp('127.0.0.3')).status).toBe(201);
  });
});
