/** Alerts of several nodes on one database: each is evaluated and told once, whoever does it and whoever dies. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { claimTurn, endTurn } from '../../../../src/features/automation/metrics/turns.ts';
import { addNotices } from '../../../../src/features/automation/notifications/notices.ts';
import { temporaryDir } from '../../../support/database.ts';
import { startTestEasel, type TestEasel, type TestStorage, testStorage } from '../../../support/easel.ts';
import { describeWith } from '../../../support/services.ts';
import { AlertStage, Destination, HOUR_MS } from './alert-stage.ts';

describeWith('postgresUrl')('two nodes on one database', () => {
  let storage: TestStorage;
  let nodes: readonly [TestEasel, TestEasel];
  const folder = temporaryDir();
  const destination = new Destination();
  beforeAll(async () => {
    storage = await testStorage('postgres');
    const first = await startTestEasel({ storage });
    nodes = [first, await startTestEasel({ storage, settings: { DATA_DIR: folder.path } })];
    await destination.open();
  });
  afterAll(async () => {
    for (const node of nodes ?? []) await node.close();
    await storage?.remove();
    folder.remove();
    destination.close();
  });
  const advance = (ms: number) => {
    for (const { clock } of nodes) clock.advance(ms);
  };

  test('[J11] of many rules that are due, each is evaluated once and told once', async () => {
    const stage = new AlertStage(nodes[0]);
    const page = await stage.page();
    await stage.setValue(page, 11);
    await stage.define(page);
    const rules: string[] = [];
    for (let at = 0; at < 20; at += 1) {
      const to = { kind: 'webhook', config: { url: `${destination.url}/${at}` } };
      rules.push((await stage.rule(page, { destination: to })).id);
    }
    advance(HOUR_MS);
    const delivered = async () => {
      advance(2000);
      const [row] = await nodes[0].sql<{ total: number }[]>`
        select count(*)::int as total from alert_event where rule_id = any(${rules}) and delivery = 'delivered'`;
      return row?.total;
    };
    await expect.poll(delivered, { timeout: 60_000, interval: 20 }).toBe(rules.length);
    const events = await nodes[0].sql<{ events: number; attempts: number }[]>`
      select count(*)::int as events, sum(attempts)::int as attempts from alert_event where rule_id = any(${rules}) group by rule_id`;
    expect(events).toEqual(rules.map(() => ({ events: 1, attempts: 1 })));
    expect(destination.received.map(({ url }) => url).sort()).toEqual(rules.map((_, at) => `/${at}`).sort());
    expect(new Set(destination.received.map(({ headers }) => headers['webhook-id'])).size).toBe(rules.length);
  });

  test('[J3] what a node that died had taken is done by another, and what the dead one reports late is not taken', async () => {
    const stage = new AlertStage(nodes[0]);
    const page = await stage.page();
    await stage.setValue(page, 11);
    await stage.define(page);
    const { id } = await stage.rule(page);
    const { sql } = nodes[0];
    // A node takes the turn, and is not heard of for an hour.
    const taken = await claimTurn(sql, { artifactId: page.id as ArtifactId, of: { kind: 'rule', id } }, HOUR_MS);
    advance(HOUR_MS);
    advance(5000);
    await sql`update metric_turn set lease_ends_at = clock_timestamp() - interval '1 second' where id = ${id}`;
    const events = async () => {
      advance(2000);
      return (await stage.events(page, id)).length;
    };
    await expect.poll(events, { timeout: 60_000, interval: 20 }).toBe(1);
    const due = await sql`select due_at_ms from metric_turn where id = ${id}`;
    expect(taken && (await sql.begin((tx) => endTurn(tx, taken, 1)))).toBe(false);
    expect(await sql`select due_at_ms from metric_turn where id = ${id}`).toEqual(due);
    const [event] = await stage.events(page, id);
    expect(event).toMatchObject({ value: 11, fired: true, delivered: true });
  });

  test('a notice that another node adds is told to an open bell by the next heartbeat at the latest', async () => {
    const stage = new AlertStage(nodes[0]);
    const { owner } = await stage.page();
    const reply = await nodes[1].fetch('/v1/notifications/stream', { token: owner.token });
    const reader = reply.body?.getReader();
    let heard = '';
    const decoder = new TextDecoder();
    void (async () => {
      for (let next = await reader?.read(); next !== undefined && !next.done; next = await reader?.read())
        heard += decoder.decode(next.value);
    })().catch(() => undefined);
    await expect.poll(() => heard).toContain('"unread_count":0');
    const notice = { userId: owner.userId, kind: 'job.paused', title: 'Paused', body: '', artifactId: null, url: null };
    await nodes[0].sql.begin((tx) => addNotices(tx, [notice], nodes[0].clock.nowMs()));
    nodes[1].clock.advance(15_000);
    await expect.poll(() => heard).toContain('"unread_count":1');
    await reader?.cancel();
  });
});
