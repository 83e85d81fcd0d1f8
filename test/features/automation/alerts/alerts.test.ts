/** Alert rules: what they are, when they fire, what they keep and whom they tell. Source: spec.md "Metric alert rule", contract.md §8, §15. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { claimTurn, endTurn } from '../../../../src/features/automation/metrics/turns.ts';
import { signatureOf } from '../../../../src/features/automation/webhooks/sign.ts';
import { databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { json, patch, post, refusal } from '../../../support/requests.ts';
import { type AlertPage, AlertStage, Destination, HOUR_MS } from './alert-stage.ts';

describe.each(databaseKinds())('over %s', (database) => {
  let easel: TestEasel;
  let stage: AlertStage;
  let destination: Destination;
  let page: AlertPage;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
    stage = new AlertStage(easel);
  });
  afterAll(() => easel.close());
  beforeEach(async () => {
    easel.clock.advance(HOUR_MS);
    // One for each test: what an earlier one has left to deliver must not reach it.
    destination = new Destination();
    await destination.open();
    page = await stage.page();
  });
  afterEach(() => destination.close());
  const create = (body: object) => stage.call(page, '/v1/metric-alerts', post({ ...stage.ruleBody(page), ...body }));

  describe('a rule', () => {
    test('has the fields of spec.md, integers where it says integer, and is changed and deleted', async () => {
      await stage.define(page);
      const rule = await stage.rule(page, { message: '{{data.value}}', cooldown_seconds: undefined });
      expect(rule).toMatchObject({
        id: expect.stringMatching(/^alr_/),
        artifact_id: page.id,
        metric_id: 'value',
        name: 'Too much',
        condition: { op: 'gt', value: 10 },
        schedule: '0 * * * *',
        timezone: 'UTC',
        destination: { kind: 'bell', config: {} },
        message: '{{data.value}}',
        cooldown_seconds: LIMITS.alertCooldownSDefault,
        enabled: true,
        state: 'ok',
        created_at: easel.clock.nowMs(),
      });
      const path = `/v1/metric-alerts/${rule.id}`;
      const shown = await stage.call(page, path);
      expect(await json(shown)).toEqual(rule);
      const changed = await stage.call(
        page,
        path,
        patch({ ...rule, name: 'Far too much' }, { 'if-match': shown.headers.get('etag') ?? '' }),
      );
      expect(await json(changed)).toMatchObject({ name: 'Far too much', message: '{{data.value}}' });
      expect((await refusal(stage.call(page, path, patch({ name: 'Late' }, { 'if-match': '"old"' })))).slice(0, 2)).toEqual([
        409,
        'VERSION_CONFLICT',
      ]);
      expect((await stage.ok(page, `/v1/metric-alerts?artifact_id=${page.id}&count=true`)).total).toBe(1);
      expect(await stage.ok(page, path, { method: 'DELETE' })).toEqual({ success: true });
      expect((await refusal(stage.call(page, path))).slice(0, 2)).toEqual([404, 'ALERT_NOT_FOUND']);
    });

    test.each([
      [{ condition: { op: 'above', value: 1 } }, 'INVALID_REQUEST', 'condition.op'],
      [{ condition: { op: 'gt' } }, 'INVALID_REQUEST', 'condition.value'],
      [{ schedule: '* * *' }, 'INVALID_SCHEDULE', 'schedule'],
      [{ timezone: 'Nowhere/Else' }, 'INVALID_SCHEDULE', 'timezone'],
      [{ metric_id: 'other' }, 'METRIC_NOT_FOUND', 'metric_id'],
      [{ cooldown_seconds: 0.5 }, 'INVALID_REQUEST', 'cooldown_seconds'],
      [{ message: '{{#data.open}}' }, 'INVALID_REQUEST', 'message'],
      [{ destination: { kind: 'pigeon', config: {} } }, 'INVALID_REQUEST', 'destination.kind'],
      [{ destination: { kind: 'email', config: { to: [] } } }, 'INVALID_REQUEST', 'destination.config.to'],
      [{ destination: { kind: 'email', config: { to: ['nobody'] } } }, 'INVALID_REQUEST', 'destination.config.to.0'],
      [
        { destination: { kind: 'email', config: { to: Array.from({ length: 11 }, (_, at) => `a${at}@example.com`) } } },
        'INVALID_REQUEST',
        'destination.config.to',
      ],
      [{ destination: { kind: 'webhook', config: { url: 'ftp://example.com' } } }, 'INVALID_REQUEST', 'destination.config.url'],
      [
        { destination: { kind: 'webhook', config: { url: 'https://example.com', secret: '' } } },
        'INVALID_REQUEST',
        'destination.config.secret',
      ],
      [
        { destination: { kind: 'webhook', config: { url: 'https://example.com', secret: '********' } } },
        'INVALID_REQUEST',
        'destination.config.secret',
      ],
      [{ destination: { kind: 'http_get', config: {} } }, 'INVALID_REQUEST', 'destination.config.url'],
      [{ destination: { kind: 'bell', config: { to: ['a@example.com'] } } }, 'INVALID_REQUEST', 'destination.config.to'],
    ])('refuses %j with the field at fault', async (body, code, param) => {
      await stage.define(page);
      const [status, found, named] = await refusal(create(body));
      expect([status < 500 && status >= 400, found, named]).toEqual([true, code, param]);
    });

    test('is known to those who edit the artifact only', async () => {
      await stage.define(page);
      const { id } = await stage.rule(page);
      const stranger = { owner: await easel.newUser(), id: page.id };
      const viewer = { owner: await easel.newUser(), id: page.id };
      await easel.sql`insert into collaborator (artifact_id, user_id, role, added_at_ms) values (${page.id}, ${viewer.owner.userId}, 'viewer', 0)`;
      await stage.ok(page, `/v1/artifacts/${page.id}`, patch({ name: 'Shared' }));
      for (const [method, path, body] of [
        ['GET', `/v1/metric-alerts/${id}`, undefined],
        ['PATCH', `/v1/metric-alerts/${id}`, { name: 'Mine' }],
        ['DELETE', `/v1/metric-alerts/${id}`, undefined],
        ['POST', `/v1/metric-alerts/${id}/run`, undefined],
        ['POST', `/v1/metric-alerts/${id}/rehearse`, undefined],
        ['GET', `/v1/metric-alerts/${id}/events`, undefined],
      ] as const) {
        const init = { method, ...(body !== undefined && { ...post(body), method }) };
        expect([path, ...(await refusal(stage.call(stranger, path, init))).slice(0, 2)]).toEqual([path, 404, 'ALERT_NOT_FOUND']);
        expect([path, ...(await refusal(stage.call(viewer, path, init))).slice(0, 2)]).toEqual([path, 403, 'FORBIDDEN']);
      }
      for (const path of ['/v1/metric-alerts', '/v1/metric-alerts/definitions']) {
        expect(await refusal(stage.call(stranger, `${path}?artifact_id=${page.id}`))).toEqual([404, 'ARTIFACT_NOT_FOUND', 'artifact_id']);
        expect((await refusal(stage.call(viewer, `${path}?artifact_id=${page.id}`))).slice(0, 2)).toEqual([403, 'FORBIDDEN']);
      }
      expect(await refusal(stage.call(stranger, '/v1/metric-alerts', post(stage.ruleBody(page))))).toEqual([
        404,
        'ARTIFACT_NOT_FOUND',
        'artifact_id',
      ]);
    });

    test('goes with its artifact, and there are only so many', async () => {
      await stage.define(page);
      const rules = Array.from({ length: LIMITS.alertRulesPerArtifactMax }, () => stage.rule(page));
      expect((await Promise.all(rules)).length).toBe(LIMITS.alertRulesPerArtifactMax);
      expect((await refusal(create({}))).slice(0, 2)).toEqual([409, 'ALERT_LIMIT_EXCEEDED']);
      await easel.sql`delete from artifact where id = ${page.id}`;
      expect(await easel.sql`select 1 from metric_turn where artifact_id = ${page.id}`).toEqual([]);
    });
  });

  describe('evaluations', () => {
    test('[J11] alert once when the condition begins to hold, and again after it did not', async () => {
      await stage.setValue(page, 5);
      await stage.define(page);
      const { id } = await stage.rule(page, { name: 'Above ten' });
      const told = [];
      for (const value of [5, 11, 12, 9, 13]) {
        const { fired, recovered } = await stage.evaluated(page, id, value);
        told.push([value, fired, recovered]);
      }
      expect(told).toEqual([
        [5, false, false],
        [11, true, false],
        [12, false, false],
        [9, false, true],
        [13, true, false],
      ]);
      expect(await stage.bell(page)).toEqual(['Above ten', 'Above ten']);
      expect(await stage.ok(page, `/v1/metric-alerts/${id}`)).toMatchObject({
        state: 'firing',
        last_value: 13,
        last_fired_at: expect.any(String),
      });
      expect((await stage.events(page, id, '?fired=true&limit=2')).map(({ value }) => value)).toEqual([13, 9]);
      const first = await stage.ok(page, `/v1/metric-alerts/${id}/events?limit=3&count=true`);
      expect([first.total, first.has_more, first.events.length]).toEqual([5, true, 3]);
      expect((await stage.events(page, id, `?limit=3&cursor=${first.next_cursor}`)).map(({ value }) => value)).toEqual([11, 5]);
    });

    test('[J11] keep still within the cooldown, and alert after it where the condition still holds', async () => {
      await stage.define(page);
      const { id } = await stage.rule(page, { cooldown_seconds: 2.5 * 3600 });
      const fired = [];
      for (const value of [11, 9, 12, 12, 12]) fired.push((await stage.evaluated(page, id, value)).fired);
      expect(fired).toEqual([true, false, false, true, false]);
    });

    test('a gap is neither an alert nor a recovery, and no value in between', async () => {
      await stage.define(page);
      const { id } = await stage.rule(page);
      expect((await stage.evaluated(page, id, 11)).fired).toBe(true);
      await stage.ok(page, `/v1/data/${page.id}/json/stats`, { method: 'DELETE' });
      expect(await stage.evaluated(page, id)).toMatchObject({ value: null, fired: false, recovered: false, error: null });
      expect(await stage.evaluated(page, id, 12)).toMatchObject({ value: 12, fired: false, recovered: false });
    });

    test('after downtime there is one late evaluation', async () => {
      await stage.setValue(page, 1);
      await stage.define(page);
      const { id } = await stage.rule(page, { schedule: '* * * * *' });
      easel.clock.advance(26 * HOUR_MS);
      await stage.passing(async () => (await stage.events(page, id)).length > 0, true);
      expect((await stage.events(page, id)).length).toBe(1);
    });

    test('sources: rows that match, and aggregates of them; a sum of nothing is no value', async () => {
      const where = { status: 'open' };
      await stage.define(page, { metric_id: 'open', source: { kind: 'table_count', table: 'orders', where } });
      await stage.define(page, {
        metric_id: 'total',
        source: { kind: 'table_aggregate', table: 'orders', field: 'total', fn: 'sum', where },
      });
      const count = await stage.rule(page, { metric_id: 'open' });
      const sum = await stage.rule(page, { metric_id: 'total' });
      const value = async ({ id }: { id: string }) => (await stage.ok(page, `/v1/metric-alerts/${id}/run`, { method: 'POST' })).event.value;
      expect([await value(count), await value(sum)]).toEqual([0, null]);
      const rows = [
        { status: 'open', total: 7 },
        { status: 'open', total: 5.5 },
        { status: 'sent', total: 100 },
      ];
      await stage.ok(page, `/v1/data/${page.id}/tables/orders`, post({ rows }));
      expect([await value(count), await value(sum)]).toEqual([2, 12.5]);
      expect(
        await refusal(
          stage.call(page, '/v1/metric-alerts/definitions', {
            ...post({
              artifact_id: page.id,
              metric_id: 'bad',
              source: { kind: 'table_count', table: 'orders', where: { a: { $near: 1 } } },
            }),
            method: 'PUT',
          }),
        ),
      ).toEqual([400, 'INVALID_FILTER', 'source.where.a.$near']);
    });

    test('read with the rights that the creator has now; ten failures in a row switch the rule off and tell it', async () => {
      const editor = { owner: await easel.newUser(), id: page.id };
      const role = (to: string) => easel.sql`
        insert into collaborator (artifact_id, user_id, role, added_at_ms) values (${page.id}, ${editor.owner.userId}, ${to}, 0)
        on conflict (artifact_id, user_id) do update set role = excluded.role`;
      const heard = () => stage.ok(page, `/v1/artifacts/${page.id}`, patch({ name: `Page ${easel.clock.nowMs()}` }));
      await role('editor');
      await stage.define(page);
      await stage.setValue(page, 11);
      const { id } = await stage.rule(editor, { schedule: '0 * * * *' });
      await role('viewer');
      await heard();
      for (let times = 0; times < LIMITS.alertFailuresMax; times += 1) {
        expect(await stage.evaluated(page, id)).toMatchObject({
          value: null,
          fired: false,
          error: expect.stringContaining('may not edit'),
        });
      }
      expect(await stage.ok(page, `/v1/metric-alerts/${id}`)).toMatchObject({
        enabled: false,
        disabled_reason: expect.stringContaining('may not edit'),
        next_evaluation_at: null,
      });
      expect(await stage.bell(editor)).toEqual(['The alert rule "Too much" is switched off']);
      await role('editor');
      await heard();
      await stage.change(page, id, { enabled: true });
      expect(await stage.evaluated(page, id)).toMatchObject({ value: 11, fired: true });
    });

    test('what is no number is a failure that says so', async () => {
      await stage.define(page);
      const { id } = await stage.rule(page);
      expect(await stage.evaluated(page, id, 'many')).toMatchObject({ value: null, error: 'The metric is a string, not a number.' });
    });

    test('a rule that is switched off is not evaluated, and runs when it is asked', async () => {
      await stage.setValue(page, 11);
      await stage.define(page);
      const { id } = await stage.rule(page, { enabled: false });
      easel.clock.advance(3 * HOUR_MS);
      const ran = await stage.ok(page, `/v1/metric-alerts/${id}/run`, { method: 'POST' });
      expect([ran.event.fired, ran.alert.enabled, ran.alert.next_evaluation_at]).toEqual([true, false, null]);
      expect((await stage.events(page, id)).length).toBe(1);
    });
  });

  describe('[J11] alerts do not flap, are not told twice, and do not fire after recovery', () => {
    test('while one node evaluates a rule no other does, and a change of the rule takes the turn away', async () => {
      await stage.setValue(page, 11);
      await stage.define(page);
      const { id } = await stage.rule(page);
      const taken = await claimTurn(easel.sql, { artifactId: page.id as ArtifactId, of: { kind: 'rule', id } }, HOUR_MS);
      expect(taken).not.toBeNull();
      expect((await refusal(stage.call(page, `/v1/metric-alerts/${id}/run`, { method: 'POST' }))).slice(0, 2)).toEqual([
        409,
        'RUN_IN_PROGRESS',
      ]);
      await stage.change(page, id, { condition: { op: 'gt', value: 20 } });
      expect(taken && (await easel.sql.begin((tx) => endTurn(tx, taken, 1)))).toBe(false);
      const ran = await stage.ok(page, `/v1/metric-alerts/${id}/run`, { method: 'POST' });
      expect([ran.event.fired, (await stage.events(page, id)).length]).toEqual([false, 1]);
    });

    test('what fired is not delivered any more once the rule has recovered', async () => {
      destination.answer = (response) => response.writeHead(500).end();
      await stage.define(page);
      const { id } = await stage.rule(page, { destination: { kind: 'webhook', config: { url: destination.url } }, notify_recovery: true });
      const fired = await stage.evaluated(page, id, 11);
      await stage.passing(async () => destination.received.length > 0, true);
      await stage.evaluated(page, id, 5);
      destination.answer = (response, { body }) => response.writeHead(body.includes('alert.recovered') ? 200 : 500).end();
      await stage.passing(async () => destination.received.at(-1)?.body.includes('alert.recovered'), true);
      // A try may have been under way while the rule recovered; what comes after the recovery may not.
      const tries = destination.received.filter(({ body }) => body.includes('alert.fired')).length;
      easel.clock.advance(HOUR_MS);
      const [, before] = await stage.events(page, id, '?fired=true');
      expect(before).toMatchObject({
        id: fired.id,
        fired: true,
        delivered: false,
        // The last try's own answer where that try was under way.
        error: expect.stringMatching(/did not hold any more|500/),
      });
      expect(destination.received.filter(({ body }) => body.includes('alert.fired')).length).toBe(tries);
    });
  });

  describe('destinations', () => {
    const secret = 'a secret of mine';
    test('a webhook gets what happened, signed, and the same id on each try until it takes it', async () => {
      destination.answer = (response) => response.writeHead(destination.received.length < 3 ? 503 : 204).end();
      await stage.define(page, { name: 'Orders' });
      const rule = await stage.rule(page, {
        destination: { kind: 'webhook', config: { url: `${destination.url}/hook`, secret } },
        message: '{{data.metric}}: {{data.value}} <b>{{data.threshold}}</b>',
      });
      expect(rule.destination).toEqual({ kind: 'webhook', config: { url: `${destination.url}/hook`, secret: '********' } });
      const { id } = await stage.evaluated(page, rule.id, 11);
      await stage.passing(async () => (await stage.events(page, rule.id))[0], {
        ...(await stage.events(page, rule.id))[0],
        ...{ delivered: true, attempts: 3, error: null },
      } as never);
      expect(destination.received.map(({ headers }) => headers['webhook-id'])).toEqual([id, id, id]);
      for (const { headers, body, method, url } of destination.received) {
        const timestampS = Number(headers['webhook-timestamp']);
        expect([method, url, headers['easel-signature']]).toEqual(['POST', '/hook', signatureOf(secret, timestampS, body)]);
        expect(JSON.parse(body)).toMatchObject({
          id,
          type: 'alert.fired',
          value: 11,
          message: 'Orders: 11 <b>10</b>',
          alert: { id: rule.id },
        });
      }
      const [stored] = await easel.sql`select destination::text as shown, sealed_secret from alert_rule where id = ${rule.id}`;
      expect([stored?.shown.includes(secret), Buffer.from(stored?.sealed_secret).includes(secret)]).toEqual([false, false]);
      // What the answer shows can be sent back.
      await stage.change(page, rule.id, { destination: rule.destination });
      destination.received.length = 0;
      await stage.evaluated(page, rule.id, 1);
      await stage.evaluated(page, rule.id, 11);
      await stage.passing(async () => destination.received.length > 0, true);
      const [again] = destination.received;
      expect(again?.headers['easel-signature']).toBe(signatureOf(secret, Number(again?.headers['webhook-timestamp']), again?.body ?? ''));
    });

    test('http_get calls the address', async () => {
      await stage.define(page);
      const { id } = await stage.rule(page, { destination: { kind: 'http_get', config: { url: `${destination.url}/ping?a=1` } } });
      await stage.evaluated(page, id, 11);
      await stage.passing(async () => (await stage.events(page, id))[0]?.delivered, true);
      expect(destination.received.map(({ method, url }) => [method, url])).toEqual([['GET', '/ping?a=1']]);
    });

    test('mail is queued once, on behalf of the creator', async () => {
      await easel.sql`update account set email = ${`${page.owner.userId}@example.com`} where id = ${page.owner.userId}`;
      await stage.define(page);
      const { id } = await stage.rule(page, {
        destination: { kind: 'email', config: { to: ['Ada@example.com', 'ada@example.com', 'bob@example.com'] } },
      });
      await stage.evaluated(page, id, 11);
      await stage.passing(async () => (await stage.events(page, id))[0]?.delivered, true);
      const mails = await easel.sql`
        select m.recipient, m.subject from mail_outbox m join mail_batch b on b.id = m.batch_id where b.artifact_id = ${page.id} order by 1`;
      expect(mails.map(({ recipient }) => recipient)).toEqual(['ada@example.com', 'bob@example.com']);
      for (const { subject } of mails) expect(subject).toMatch(/^Alert: Too much on "/);
    });

    test('a creator without a proved address sends no mail, and it is said why', async () => {
      await stage.define(page);
      const { id } = await stage.rule(page, { destination: { kind: 'email', config: { to: ['ada@example.com'] } } });
      await stage.evaluated(page, id, 11);
      await stage.passing(async () => (await stage.events(page, id))[0]?.error !== null, true);
      expect(await stage.events(page, id)).toMatchObject([{ fired: true, delivered: false, attempts: 1 }]);
    });

    test('one that hangs is given up after some tries, and harms no other', async () => {
      const others = await stage.page();
      destination.answer = (response, { url }) => {
        if (url !== '/hangs') response.end('ok');
      };
      for (const each of [page, others]) await stage.define(each);
      const hanging = await stage.rule(page, { destination: { kind: 'http_get', config: { url: `${destination.url}/hangs` } } });
      const good = await stage.rule(others, { destination: { kind: 'http_get', config: { url: `${destination.url}/good` } } });
      await stage.evaluated(page, hanging.id, 11);
      await stage.passing(async () => destination.received.some(({ url }) => url === '/hangs'), true);
      await stage.evaluated(others, good.id, 11);
      await stage.passing(async () => (await stage.events(others, good.id))[0]?.delivered, true);
      expect((await stage.events(page, hanging.id)).find(({ fired }) => fired)).toMatchObject({ delivered: false });
    });

    test('addresses that may not be reached are refused when they are called', async () => {
      await stage.define(page);
      const { id } = await stage.rule(page, { destination: { kind: 'http_get', config: { url: 'http://169.254.169.254/latest' } } });
      await stage.evaluated(page, id, 11);
      await stage.passing(async () => (await stage.events(page, id))[0]?.error !== null, true);
      expect(await stage.events(page, id)).toMatchObject([{ fired: true, delivered: false }]);
    });
  });

  describe('before it is saved', () => {
    test('a backtest tells how often a rule would have fired over what is kept', async () => {
      await stage.define(page);
      const { id } = await stage.rule(page);
      for (const value of [5, 11, 12, 9, 13]) await stage.evaluated(page, id, value);
      const test = (more: object) => stage.ok(page, '/v1/metric-alerts/backtest', post({ ...stage.ruleBody(page), ...more }));
      const found = await test({});
      expect(found).toMatchObject({
        would_have_fired: 2,
        evaluations: expect.any(Number),
        from: expect.any(String),
        to: expect.any(String),
      });
      expect(found.events.map(({ value, fired }: { value: number; fired: boolean }) => [value, fired])).toEqual([
        [13, true],
        [9, false],
        [11, true],
      ]);
      expect((await test({ condition: { op: 'gt', value: 12 } })).would_have_fired).toBe(1);
      expect((await test({ condition: { op: 'gt', value: 100 } })).would_have_fired).toBe(0);
      expect((await test({ cooldown_seconds: 24 * 3600 })).would_have_fired).toBe(1);
      expect((await stage.events(page, id)).length).toBe(5);
      expect(await stage.bell(page)).toEqual(['Too much', 'Too much']);
    });

    test('the history of a metric begins with its definition, and anew with another source', async () => {
      await stage.setValue(page, 11);
      await stage.define(page);
      const test = () => stage.ok(page, '/v1/metric-alerts/backtest', post(stage.ruleBody(page)));
      await stage.passing(async () => (await test()).evaluations > 0, true);
      expect((await test()).would_have_fired).toBe(1);
      await stage.define(page, { name: 'The same' });
      expect((await test()).would_have_fired).toBe(1);
      await stage.define(page, { source: { kind: 'json_path', key: 'other', path: '$.value' } });
      expect(await test()).toEqual({ would_have_fired: 0, evaluations: 0, from: null, to: null, events: [] });
    });

    test('a rehearsal tells what would be sent, and sends nothing', async () => {
      await stage.setValue(page, 11);
      await stage.define(page);
      const { id } = await stage.rule(page, {
        destination: { kind: 'webhook', config: { url: destination.url } },
        message: 'Now {{data.value}}',
      });
      const would = await stage.ok(page, `/v1/metric-alerts/${id}/rehearse`, { method: 'POST' });
      expect(would).toMatchObject({ value: 11, would_fire: true, error: null, would: { write: [], send: [], ring: [] } });
      expect(would.would.call).toEqual([{ method: 'POST', url: destination.url, body: expect.stringContaining('Now 11') }]);
      await stage.setValue(page, 3);
      expect(await stage.ok(page, `/v1/metric-alerts/${id}/rehearse`, { method: 'POST' })).toMatchObject({ value: 3, would_fire: false });
      expect([await stage.events(page, id), destination.received, (await stage.ok(page, `/v1/metric-alerts/${id}`)).state]).toEqual([
        [],
        [],
        'ok',
      ]);
    });
  });

  test('a metric that rules use is not deleted', async () => {
    await stage.define(page);
    const { id } = await stage.rule(page);
    const path = `/v1/metric-alerts/definitions/${page.id}/value`;
    expect((await refusal(stage.call(page, path, { method: 'DELETE' }))).slice(0, 2)).toEqual([409, 'METRIC_IN_USE']);
    await stage.ok(page, `/v1/metric-alerts/${id}`, { method: 'DELETE' });
    expect(await stage.ok(page, path, { method: 'DELETE' })).toEqual({ success: true });
    expect((await refusal(stage.call(page, path))).slice(0, 2)).toEqual([404, 'METRIC_NOT_FOUND']);
  });

  test('evaluations are kept 90 days', async () => {
    await stage.define(page);
    const { id } = await stage.rule(page);
    await stage.evaluated(page, id, 1);
    await stage.change(page, id, { enabled: false });
    easel.clock.advance(LIMITS.alertEventsKeptDays * 24 * HOUR_MS);
    await easel.sweep();
    expect(await stage.events(page, id)).toEqual([]);
  });
});
