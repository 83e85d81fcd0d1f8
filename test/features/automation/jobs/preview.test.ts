import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';

let easel: TestEasel;
let token: string;

beforeAll(async () => {
  easel = await startTestEasel();
  ({ token } = await easel.newUser());
});
afterAll(() => easel?.close());

async function preview(body: unknown) {
  const headers = { 'content-type': 'application/json' };
  const reply = await easel.fetch('/v1/jobs/preview', { method: 'POST', token, headers, body: JSON.stringify(body) });
  return { status: reply.status, body: await reply.json() };
}

it('tells what a schedule means in English and Spanish, and its next five times from now', async () => {
  const { status, body } = await preview({ schedule: '30 9 * * mon-fri', timezone: 'America/Lima' });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    valid: true,
    human: { en: 'At 09:30, Monday through Friday (America/Lima)', es: 'A las 09:30, de lunes a viernes (America/Lima)' },
  });
  expect(body.next).toHaveLength(5);
  for (const time of body.next) {
    expect(Date.parse(time)).toBeGreaterThan(easel.clock.nowMs());
    expect(time).toMatch(/T14:30:00\.000Z$/);
    expect([1, 2, 3, 4, 5]).toContain(new Date(time).getUTCDay());
  }
});

it('says what is wrong with a schedule or a time zone', async () => {
  expect(await preview({ schedule: '0 9 * *' })).toMatchObject({
    status: 200,
    body: { valid: false, param: 'schedule', next: [], human: null },
  });
  expect(await preview({ schedule: '0 9 * * *', timezone: 'Nowhere' })).toMatchObject({
    status: 200,
    body: { valid: false, param: 'timezone' },
  });
  expect(await preview({ schedule: `0 9 * * ${'1,'.repeat(200)}1` })).toMatchObject({ status: 400, body: { param: 'schedule' } });
});
