/** alerts metrics | define | undefine: numbers of the live data of a page, which alert rules compare. */
import { type Command, Option } from 'commander';
import { AGGREGATES } from '../../../protocol/automation/metrics.ts';
import { artifactIdOf, artifactOption } from './artifact-name.ts';
import { CliFailure } from './failures.ts';
import { collect, limitOption } from './paging.ts';
import type { OpenSession, Session } from './session.ts';
import { tableText } from './text.ts';

type Source = Parameters<Session['api']['metrics']['put']>[0]['body']['source'];

interface DefineOptions {
  readonly artifact?: string;
  readonly name?: string;
  readonly key?: string;
  readonly path?: string;
  readonly table?: string;
  readonly where?: string;
  readonly fn?: (typeof AGGREGATES)[number];
  readonly field?: string;
}

async function list(session: Session, name: string | undefined, { limit }: { readonly limit: number }): Promise<void> {
  const artifact_id = await artifactIdOf(session, name);
  const { items, hasMore } = await collect(limit, async (page) => {
    const { body } = await session.api.metrics.list({ query: { artifact_id, ...page }, signal: session.shell.signal });
    return { items: body.definitions, next: body.next_cursor };
  });
  const rows = items.map(({ metric_id, source, name: shown }) => [metric_id, sourceText(source), shown.replace(/\p{Cc}/gu, ' ')]);
  const text = rows.length === 0 ? 'No metrics.' : tableText(['ID', 'READS', 'NAME'], rows);
  session.answer({ definitions: items, has_more: hasMore }, text);
}

function sourceText(source: Source): string {
  switch (source.kind) {
    case 'json_path':
      return `${source.key} ${source.path ?? '$'}`;
    case 'table_count':
      return `count of ${source.table}${whereText(source.where)}`;
    case 'table_aggregate':
      return `${source.fn} of ${source.table}.${source.field}${whereText(source.where)}`;
    default:
      return source satisfies never;
  }
}

function whereText(where: unknown): string {
  return where === undefined ? '' : ` where ${JSON.stringify(where)}`;
}

async function define(session: Session, metric_id: string, options: DefineOptions): Promise<void> {
  const body = {
    artifact_id: await artifactIdOf(session, options.artifact),
    metric_id,
    ...(options.name !== undefined && { name: options.name }),
    source: sourceOf(options),
  };
  const metric = (await session.api.metrics.put({ body, signal: session.shell.signal })).body;
  session.answer(metric, `${metric.metric_id}: ${sourceText(metric.source)}`);
}

function sourceOf({ key, path, table, where, fn, field }: DefineOptions): Source {
  if ((key === undefined) === (table === undefined)) {
    throw new CliFailure('usage', 'INVALID_USAGE', 'A metric reads a key or a table.', 'Give either --key or --table.');
  }
  if (key !== undefined) return { kind: 'json_path', key, ...(path !== undefined && { path }) };
  const of = { table: table ?? '', ...(where !== undefined && { where: jsonOf(where) }) };
  if (fn === undefined && field === undefined) return { kind: 'table_count', ...of };
  if (fn === undefined || field === undefined) {
    throw new CliFailure('usage', 'INVALID_USAGE', '--fn and --field belong together.', 'Give both, or neither to count rows.');
  }
  return { kind: 'table_aggregate', ...of, field, fn };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CliFailure('usage', 'INVALID_JSON', '--where is not JSON.', 'Write it like \'{"status": "open"}\'.');
  }
}

async function undefine(session: Session, metricId: string, { artifact }: { readonly artifact?: string }): Promise<void> {
  const params = { artifactId: await artifactIdOf(session, artifact), metricId };
  const { body } = await session.api.metrics.delete({ params, signal: session.shell.signal });
  session.answer(body, 'Deleted, with its history.');
}

export function addMetricCommands(group: Command, open: OpenSession): void {
  group
    .command('metrics')
    .summary('list the metrics of a page')
    .description('Lists the metrics of a page: numbers that are read from its live data.')
    .argument('[artifact]', 'slug, id or folder (default: the artifact of this folder)')
    .addOption(limitOption())
    .addHelpText('after', '\nExample:\n  easel alerts metrics my-shop')
    .action(async (artifact, options, command) => list(await open(command), artifact, options));
  group
    .command('define')
    .summary('define a metric')
    .description('Defines a metric of a page, or changes it. Its value is kept every hour from then on.')
    .argument('<metric>', 'its id, such as open_orders')
    .addOption(artifactOption())
    .option('--name <text>', 'default: the id')
    .option('--key <key>', 'read a JSON key')
    .option('--path <path>', 'where the number is in its value, such as $.total')
    .option('--table <table>', 'read a table: the number of its rows, or with --fn and --field an aggregate')
    .option('--where <json>', 'only rows that match this filter')
    .addOption(new Option('--fn <fn>', 'of the field').choices(AGGREGATES))
    .option('--field <field>', 'of the rows')
    .addHelpText(
      'after',
      '\nExamples:\n  easel alerts define open_orders -a my-shop --table orders --where \'{"status": "open"}\'\n  easel alerts define visitors -a my-shop --key stats --path $.visitors',
    )
    .action(async (metric, options, command) => define(await open(command), metric, options));
  group
    .command('undefine')
    .summary('delete a metric')
    .description('Deletes a metric with its history. It is refused while rules use it.')
    .argument('<metric>', 'its id')
    .addOption(artifactOption())
    .addHelpText('after', '\nExample:\n  easel alerts undefine open_orders -a my-shop')
    .action(async (metric, options, command) => undefine(await open(command), metric, options));
}
