/** datasets list, get, put, rows, delete: files of rows that pages read. */
import { writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { LIMITS } from '../../../protocol/core/limits.ts';
import { artifactIdOf, artifactOption } from './artifact-name.ts';
import { CliFailure } from './failures.ts';
import { fileFailure, readGiven } from './given-files.ts';
import { collect, limitOption } from './paging.ts';
import type { OpenSession, Session } from './session.ts';
import { readBytes } from './standard-input.ts';
import { bytesText, countText, tableText, timeText } from './text.ts';

interface Named {
  readonly artifact?: string;
}

const TYPES = { csv: 'text/csv', ndjson: 'application/x-ndjson', json: 'application/json' } as const;
type Format = keyof typeof TYPES;
const FORMATS = Object.keys(TYPES) as Format[];

function isFormat(text: string): text is Format {
  return FORMATS.includes(text as Format);
}

/** The format that a file's name tells. */
function formatOf(file: string): Format | undefined {
  const ending = extname(file).slice(1).toLowerCase();
  if (ending === 'jsonl') return 'ndjson';
  return isFormat(ending) ? ending : undefined;
}

async function list(session: Session, options: Named & { limit: number }): Promise<void> {
  const artifactId = await artifactIdOf(session, options.artifact);
  const { items: datasets, hasMore } = await collect(options.limit, async (query) => {
    const { data } = (await session.api.datasets.list({ params: { artifactId }, query, signal: session.shell.signal })).body;
    return { items: data.datasets, next: data.nextCursor };
  });
  const rows = datasets.map((each) => [
    each.name,
    String(each.version),
    String(each.rows),
    bytesText(each.sizeBytes),
    timeText(each.createdAt),
  ]);
  const text = datasets.length === 0 ? 'No datasets.' : tableText(['NAME', 'VERSION', 'ROWS', 'SIZE', 'STORED'], rows);
  session.answer({ artifact_id: artifactId, datasets, hasMore }, text);
  if (hasMore) session.remark(`There are more: easel datasets list --limit ${options.limit * 2}`);
}

type GetOptions = Named & { output?: string; format?: Format; at?: number };

async function get(session: Session, dataset: string, options: GetOptions): Promise<void> {
  const params = { artifactId: await artifactIdOf(session, options.artifact), dataset };
  const { signal } = session.shell;
  const { output, at: version } = options;
  if (output === undefined && options.format === undefined && version === undefined) {
    const { data } = (await session.api.datasets.get({ params, signal })).body;
    const columns = tableText(
      ['COLUMN', 'TYPE'],
      data.columns.map(({ name, type }) => [name, type]),
    );
    const kept = tableText(
      ['VERSION', 'ROWS', 'SIZE', 'STORED'],
      data.versions.map((each) => [String(each.version), String(each.rows), bytesText(each.sizeBytes), timeText(each.createdAt)]),
    );
    session.answer(data, `${columns}\n\n${kept}`);
    return;
  }
  const format = options.format ?? (output === undefined ? undefined : formatOf(output)) ?? 'csv';
  const { body } = await session.api.datasets.content({ params, query: { format, version }, signal });
  if (output === undefined) {
    const text = new TextDecoder().decode(body);
    session.answer({ name: dataset, format, text }, text.replace(/\r?\n$/, ''));
    return;
  }
  await writeFile(output, body).catch((error: unknown) => {
    throw fileFailure(error, 'written', output);
  });
  session.answer({ name: dataset, format, file: output, bytes: body.byteLength }, `Written to ${output}.`);
}

type PutOptions = Named & { format?: Format; ifMatch?: string; create?: boolean };

async function put(session: Session, dataset: string, file: string, options: PutOptions): Promise<void> {
  const format = options.format ?? formatOf(file);
  if (format === undefined) {
    throw new CliFailure('usage', 'INVALID_USAGE', `The format of "${file}" is not known.`, 'Add --format csv, ndjson or json.');
  }
  const body = file === '-' ? await readBytes(session.shell.stdin) : await readGiven(file);
  const reply = await session.api.datasets.put({
    params: { artifactId: await artifactIdOf(session, options.artifact), dataset },
    body,
    mediaType: TYPES[format],
    ifMatch: options.ifMatch,
    ifNoneMatch: options.create ? '*' : undefined,
    signal: session.shell.signal,
  });
  const { data } = reply.body;
  const what = `${countText(data.rows, 'row')} in ${countText(data.columns.length, 'column')}`;
  session.answer(
    { ...data, created: reply.status === 201, etag: reply.headers.get('etag') },
    reply.status === 201
      ? `Stored version ${data.version} of ${dataset}: ${what}.`
      : `Version ${data.version} of ${dataset} has the same rows.`,
  );
}

type RowsOptions = Named & { filter?: string; fields?: string; at?: number; limit: number };

async function rows(session: Session, dataset: string, options: RowsOptions): Promise<void> {
  const params = { artifactId: await artifactIdOf(session, options.artifact), dataset };
  const { filter, fields, at: version } = options;
  const found: Record<string, unknown>[] = [];
  let cursor: string | undefined;
  do {
    // A page may have fewer rows than it may, and still have more after it.
    const query = { filter, fields, version, limit: Math.min(LIMITS.rowsPageMax, options.limit - found.length), cursor };
    const { data } = (await session.api.datasets.rows({ params, query, signal: session.shell.signal })).body;
    found.push(...data.rows);
    cursor = data.nextCursor ?? undefined;
  } while (cursor !== undefined && found.length < options.limit);
  const hasMore = cursor !== undefined;
  session.answer(
    { name: dataset, rows: found, hasMore },
    found.length === 0 ? 'No rows.' : found.map((row) => JSON.stringify(row)).join('\n'),
  );
  if (hasMore) session.remark(`There may be more: easel datasets rows ${dataset} --limit ${options.limit * 2}`);
}

async function remove(session: Session, dataset: string, options: Named & { yes?: boolean; ifMatch?: string }): Promise<void> {
  if (!options.yes) {
    throw new CliFailure(
      'usage',
      'CONFIRM',
      'This deletes the dataset with all of its versions and cannot be undone.',
      `Save it with "easel datasets get ${dataset} -o ${dataset}.csv" if you need it, then add --yes.`,
    );
  }
  const params = { artifactId: await artifactIdOf(session, options.artifact), dataset };
  const { data } = (await session.api.datasets.delete({ params, ifMatch: options.ifMatch, signal: session.shell.signal })).body;
  session.answer(data, `Deleted ${dataset}.`);
}

function versionOf(text: string): number {
  const version = Number(text);
  if (!Number.isSafeInteger(version) || version < 1) throw new InvalidArgumentError('It must be a whole number, at least 1.');
  return version;
}

const formatOption = (what: string) => new Option('--format <format>', what).choices(FORMATS);
const versionOption = () => new Option('--at <version>', 'one of the versions that are kept, instead of the newest').argParser(versionOf);
const ifMatchOption = () => new Option('--if-match <etag>', 'only if the dataset has not changed since this ETag');

function addReading(datasets: Command, open: OpenSession): void {
  datasets
    .command('list')
    .summary('list the datasets')
    .description('Lists the datasets, each with its newest version.')
    .addOption(limitOption())
    .addOption(artifactOption())
    .addHelpText('after', '\nExample:\n  easel datasets list -a my-site')
    .action(async (options, command) => list(await open(command), options));
  datasets
    .command('get')
    .summary('show a dataset, or save its rows')
    .description('Shows the columns and the versions of a dataset. With --output or --format it gives all rows.')
    .argument('<dataset>')
    .option('-o, --output <file>', 'write all rows to this file')
    .addOption(formatOption('format of the rows; default is that of the file, else csv'))
    .addOption(versionOption())
    .addOption(artifactOption())
    .addHelpText(
      'after',
      '\nExamples:\n  easel datasets get sales\n  easel datasets get sales -o sales.csv\n  easel datasets get sales --format ndjson',
    )
    .action(async (dataset, options, command) => get(await open(command), dataset, options));
  datasets
    .command('rows')
    .summary('print matching rows')
    .description('Prints matching rows in their order, each as a line of JSON.')
    .argument('<dataset>')
    .option('--filter <json>', 'fields and their conditions')
    .option('--fields <names>', 'only these fields, separated by commas')
    .addOption(versionOption())
    .addOption(limitOption())
    .addOption(artifactOption())
    .addHelpText('after', '\nExample:\n  easel datasets rows sales --filter \'{"sum":{"$gte":100}}\' --fields region,sum')
    .action(async (dataset, options, command) => rows(await open(command), dataset, options));
}

export function addDatasetCommands(program: Command, open: OpenSession): void {
  program.commandsGroup('Data');
  const datasets = program
    .command('datasets')
    .summary('store and read files of rows')
    .description('Stores files of rows as datasets of a page, in versions, and reads them.')
    .addHelpText('after', '\nExamples:\n  easel datasets put sales sales.csv\n  easel datasets rows sales --limit 10');
  addReading(datasets, open);
  datasets
    .command('put')
    .summary('store a file of rows as the newest version')
    .description('Stores all rows of a CSV file, of lines of JSON or of a JSON array as the newest version. The same rows again make none.')
    .argument('<dataset>')
    .argument('<file>', '"-": standard input, with --format')
    .addOption(formatOption('format of the file; default is what its name ends with'))
    .option('--create', 'only if there is no such dataset')
    .addOption(ifMatchOption())
    .addOption(artifactOption())
    .addHelpText('after', '\nExamples:\n  easel datasets put sales sales.csv\n  easel datasets put sales - --format ndjson < sales.ndjson')
    .action(async (dataset, file, options, command) => put(await open(command), dataset, file, options));
  datasets
    .command('delete')
    .summary('delete a dataset')
    .description('Deletes a dataset with all of its versions. This cannot be undone.')
    .argument('<dataset>')
    .option('--yes', 'delete it without asking')
    .addOption(ifMatchOption())
    .addOption(artifactOption())
    .addHelpText('after', '\nExample:\n  easel datasets delete sales --yes')
    .action(async (dataset, options, command) => remove(await open(command), dataset, options));
}
