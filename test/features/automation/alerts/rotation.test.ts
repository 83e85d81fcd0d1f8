/** Keys change: what becomes of the secrets of alert rules. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AlertRuleId } from '../../../../protocol/core/ids.ts';
import { openSecret } from '../../../../src/features/automation/alerts/outgoing.ts';
import { Sealer } from '../../../../src/storage/sealing/sealer.ts';
import { startTestEasel, type TestEasel, type TestStorage, testStorage } from '../../../support/easel.ts';
import { AlertStage } from './alert-stage.ts';

const [OLD, NEW] = ['aa'.repeat(32), 'bb'.repeat(32)];
let storage: TestStorage;
let easel: TestEasel;
beforeAll(async () => {
  storage = await testStorage();
  easel = await startTestEasel({ storage, settings: { SECRET_KEY: OLD } });
});
afterAll(async () => {
  await easel.close();
  await storage.remove();
});

it('the sweep seals again what an older key has sealed, and the old key can go', async () => {
  const stage = new AlertStage(easel);
  const page = await stage.page();
  await stage.define(page);
  const config = { url: 'https://hooks.example.com/', secret: 'open sesame' };
  const { id } = await stage.rule(page, { destination: { kind: 'webhook', config } });
  await easel.close();
  easel = await startTestEasel({ storage, settings: { SECRET_KEY: `${NEW},${OLD}` } });
  // A start sweeps too, so either of the two has done it.
  await easel.sweep();
  const [row] = await easel.sql<{ id: AlertRuleId; sealed_secret: Buffer }[]>`select id, sealed_secret from alert_rule where id = ${id}`;
  expect(row && openSecret(new Sealer([Buffer.from(NEW, 'hex')]), row)).toBe('open sesame');
});
