/** Prepares what the examples of metrics, alert rules and watches need. */
import { vi } from 'vitest';
import type { TestEasel, TestUser } from '../support/easel.ts';
import { post } from '../support/requests.ts';

/** What these examples need of the world of `examples.ts`. */
interface World {
  readonly easel: TestEasel;
  readonly owner: TestUser;
  readonly artifactId: string;
}

interface Arranged {
  readonly ids?: Readonly<Record<string, string>>;
}

async function send({ easel, owner }: World, method: 'POST' | 'PUT', path: string, body: object) {
  const reply = await easel.fetch(path, { token: owner.token, ...post(body), method });
  if (!reply.ok) throw new Error(`${path} answered ${reply.status}: ${await reply.text()}`);
  return (await reply.json()) as { readonly id: string; readonly watch: { readonly id: string } };
}

async function metric(world: World): Promise<Arranged> {
  const source = { kind: 'table_count', table: 'orders', where: { status: 'open' } };
  await send(world, 'PUT', '/v1/metric-alerts/definitions', { artifact_id: world.artifactId, metric_id: 'open_orders', source });
  return {};
}

async function rule(world: World): Promise<Arranged> {
  await metric(world);
  const compared = { metric_id: 'open_orders', condition: { op: 'gt', value: 100 }, schedule: '*/15 * * * *' };
  const body = { artifact_id: world.artifactId, name: 'Too many', ...compared, destination: { kind: 'bell', config: {} } };
  return { ids: { alertRule: (await send(world, 'POST', '/v1/metric-alerts', body)).id } };
}

async function watch(world: World): Promise<Arranged> {
  const body = { artifact_id: world.artifactId, table: 'orders', kind: 'count' };
  const { id } = (await send(world, 'POST', '/v1/metric-watch', body)).watch;
  // It looks at once, which changes what it shows. Asked of the database, because the API bounds how often it is asked.
  const lastValue = async () => {
    const [row] = await world.easel.sql<{ last_value: number | null }[]>`select last_value from metric_watch where id = ${id}`;
    return row?.last_value ?? null;
  };
  await vi.waitUntil(async () => (await lastValue()) !== null, { timeout: 60_000 });
  return { ids: { metricWatch: id } };
}

export const alertArrangements = {
  'metrics.list': metric,
  'metrics.get': metric,
  'metrics.delete': metric,
  'alerts.list': rule,
  'alerts.create': metric,
  'alerts.backtest': metric,
  'alerts.get': rule,
  'alerts.update': rule,
  'alerts.delete': rule,
  'alerts.run': rule,
  'alerts.rehearse': rule,
  'alerts.events': rule,
  'watches.list': watch,
  'watches.get': watch,
  'watches.update': watch,
  'watches.delete': watch,
};
