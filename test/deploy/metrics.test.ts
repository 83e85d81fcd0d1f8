/** The dashboard and the alerts ask only for metrics that a node of a cluster has, in queries that Prometheus can parse. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import { expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { openRedis } from '../../src/cluster/redis.ts';
import { parseSettings } from '../../src/platform/config.ts';
import { createServerDatabase, SILENT, temporaryDir } from '../support/database.ts';
import { startProgram } from '../support/program.ts';
import { startS3 } from '../support/s3.ts';
import { describeWith, services } from '../support/services.ts';

const DEPLOY = join(import.meta.dirname, '../../deploy');
/** Added by Prometheus to every target. */
const OF_PROMETHEUS = ['up'];

interface Query {
  readonly name: string;
  readonly expr: string;
}

function alerts(): readonly (Query & { readonly runbook: string; readonly for?: string })[] {
  const { groups } = parse(readFileSync(join(DEPLOY, 'monitoring/alerts.yaml'), 'utf8'));
  return groups.flatMap((group: { rules: { alert: string; expr: string; for?: string; annotations: { runbook: string } }[] }) =>
    group.rules.map((rule) => ({ ...rule, name: rule.alert, runbook: rule.annotations.runbook })),
  );
}

function panels(): readonly Query[] {
  const { panels } = JSON.parse(readFileSync(join(DEPLOY, 'monitoring/dashboard.json'), 'utf8'));
  return panels.flatMap((panel: { title: string; targets: { expr: string }[] }) =>
    panel.targets.map(({ expr }) => ({ name: panel.title, expr })),
  );
}

/** The parts of a query of one kind, such as the names of metrics. Throws where the query is not PromQL. */
function partsOf({ name, expr }: Query, kind: string): readonly string[] {
  const parts: string[] = [];
  parser.parse(expr).iterate({
    enter(node) {
      if (node.type.isError) throw new Error(`${name}: not PromQL at ${node.from}: ${expr}`);
      if (node.name === kind) parts.push(expr.slice(node.from, node.to));
    },
  });
  return parts;
}

it('a query that is not PromQL is noticed', () => {
  expect(() => partsOf({ name: 'wrong', expr: 'sum(rate(x[5m])' }, 'VectorSelector')).toThrow('not PromQL');
});

it('every alert has its section in the runbook, and the runbook no other', () => {
  const sections = [...readFileSync(join(DEPLOY, 'RUNBOOK.md'), 'utf8').matchAll(/^## (Easel\w+)$/gm)].map(([, name]) => name);
  expect(sections.sort()).toEqual(
    alerts()
      .map(({ name }) => name)
      .sort(),
  );
  for (const { name, runbook } of alerts()) expect(runbook).toBe(`RUNBOOK.md#${name.toLowerCase()}`);
});

describeWith('redisUrl')('metrics', () => {
  it('of dashboard, alerts and autoscaling are those of a node', async () => {
    const [database, s3, folder] = [await createServerDatabase(), await startS3(), temporaryDir()];
    const settings = { REDIS_URL: services().redisUrl ?? '', CLUSTER_SECRET: randomBytes(32).toString('hex') };
    const node = await startProgram({
      ...s3.settings,
      ...settings,
      DATABASE_URL: database.url,
      DATA_DIR: folder.path,
      PEER_ADDRESS: '127.0.0.1:1',
    });
    onTestFinished(async () => {
      await node.end('SIGTERM');
      const redis = await openRedis(settings, 'commands', SILENT);
      for (const key of await redis.client.keys(`${redis.prefix}*`)) await redis.client.del(key.slice(redis.prefix.length));
      redis.close();
      await s3.close();
      await database.drop();
      folder.remove();
    });
    const text = await (await fetch(`${node.baseUrl}/metrics`)).text();
    const known = new Set(
      [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
        type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
      ),
    );
    const queries = [...alerts(), ...panels()];
    expect(queries.length).toBeGreaterThan(25);
    for (const query of queries) {
      const names = partsOf(query, 'VectorSelector').map((selector) => selector.replace(/\{.*$/s, ''));
      expect(names, query.name).not.toEqual([]);
      for (const name of names) expect([...known, ...OF_PROMETHEUS], query.name).toContain(name);
    }
    const manifests = readFileSync(join(DEPLOY, 'kubernetes/easel.yaml'), 'utf8');
    const scaled = [...manifests.matchAll(/metric: \{ name: (\w+) \}/g)].map(([, name]) => name);
    expect(scaled.length).toBeGreaterThan(0);
    for (const name of scaled) expect([...known]).toContain(name);
  });
});

it('the settings that compose and Kubernetes give are settings, and work together', () => {
  const compose = parse(readFileSync(join(DEPLOY, 'compose.yml'), 'utf8'), { merge: true });
  const secrets = parse(readFileSync(join(DEPLOY, 'kubernetes/secret.example.yaml'), 'utf8')).stringData;
  const [{ data }] = readFileSync(join(DEPLOY, 'kubernetes/easel.yaml'), 'utf8')
    .split(/^---$/m)
    .map((text) => parse(text));
  const filled = Object.fromEntries(
    Object.entries<string>(compose.services.node1.environment).map(([name, value]) => [
      name,
      value.replace(/\$\{\w+:-([^}]*)\}/g, '$1').replace(/\$\{(\w+):\?[^}]*\}/g, (_, wanted) => secrets[wanted] ?? 'secret00'),
    ]),
  );
  for (const given of [filled, { ...data, ...secrets, PEER_ADDRESS: '10.0.0.7:8790' }]) {
    const settings = parseSettings(given);
    for (const name of Object.keys(given)) expect(Object.keys(settings)).toContain(name);
  }
});
