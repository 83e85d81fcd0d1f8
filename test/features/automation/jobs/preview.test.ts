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
  const wrong = async (schedule: string) => (await preview({ schedule })).body.error;
  const andSo = 'ranges such as 1-5, lists, and steps such as */2.';
  expect(await wrong('0 25 * * *')).toBe(`"25" is no hour: that takes numbers from 0 to 23, ${andSo}`);
  expect(await wrong('5-1 * * * *')).toBe(`"5-1" is no minute: that takes numbers from 0 to 59, ${andSo}`);
  expect(await wrong('* * * foo *')).toBe(`"foo" is no month: that takes numbers from 1 to 12, or jan to dec, ${andSo}`);
  expect(await wrong('0 9 30 2 *')).toBe('No month that it names has the day 30.');
  expect(await preview({ schedule: `0 9 * * ${'1,'.repeat(200)}1` })).toMatchObject({ status: 400, body: { param: 'schedule' } });
});
