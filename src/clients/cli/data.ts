/** data get, set, ls, rm, patch: the JSON keys of a page. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { artifactIdOf, artifactOption } from './artifact-name.ts';
import { CliFailure } from './failures.ts';
import { readGiven } from './given-files.ts';
import { collect, limitOption } from './paging.ts';
import type { OpenSession, Session } from './session.ts';
import { readText } from './standard-input.ts';
import { countText, timeText } from './text.ts';

interface Named {
  readonly artifact?: string;
}
interface Written extends Named {
  readonly ttl?: number;
  readonly ifMatch?: string;
}

function parsed(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** A value as one line, shortened for a list. */
function shortText(value: unknown): string {
  const text = JSON.stringify(value) ?? '';
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

async function get(session: Session, key: string, options: Named & { path?: string; raw?: boolean }): Promise<void> {
  const artifactId = await artifactIdOf(session, options.artifact);
  const reply = await session.api.json.get({
    params: { artifactId, key },
    query: { path: options.path },
    signal: session.shell.signal,
  });
  const entry = reply.body.data;
  const text = options.raw && typeof entry.value === 'string' ? entry.value : JSON.stringify(entry.value, null, 2);
  session.answer({ ...entry, etag: reply.headers.get('etag') }, text);
}

async function textOf(session: Session, given: string | undefined, file: string | undefined): Promise<string> {
  if ((given === undefined) === (file === undefined)) {
    throw new CliFailure('usage', 'INVALID_USAGE', 'Give either a value or --file.', 'For example: easel data set greeting hello');
  }
  if (given === '-' || file === '-') return readText(session.shell.stdin);
  if (file === undefined) return given ?? '';
  return (await readGiven(file)).toString('utf8');
}

type SetOptions = Written & { file?: string; text?: boolean; create?: boolean };

async function set(session: Session, key: string, given: string | undefined, options: SetOptions): Promise<void> {
  const text = await textOf(session, given, options.file);
  // A value on the command line that is not JSON is meant as text. A file that is not JSON probably has a mistake.
  const plain = given !== undefined && given !== '-';
  const json = options.text ? { value: text } : (parsed(text) ?? (plain ? { value: text } : undefined));
  if (!json) throw new CliFailure('usage', 'INVALID_JSON', 'The value is not JSON.', 'Correct it, or add --text to store it as text.');
  const artifactId = await artifactIdOf(session, options.artifact);
  const reply = await session.api.json.put({
    params: { artifactId, key },
    query: { ttl: options.ttl },
    body: json.value,
    ifMatch: options.ifMatch,
    ifNoneMatch: options.create ? '*' : undefined,
    signal: session.shell.signal,
  });
  const { data } = reply.body;
  session.answer({ ...data, etag: reply.headers.get('etag') }, `${data.created ? 'Stored' : 'Replaced'} ${key} = ${shortText(json.value)}`);
}

async function list(session: Session, prefix: string | undefined, options: Named & { limit: number; values?: boolean }): Promise<void> {
  const artifactId = await artifactIdOf(session, options.artifact);
  const { signal } = session.shell;
  const entries: { key: string; value: unknown; updatedAt: string }[] = [];
  let count = 0;
  const { items: keys, hasMore } = await collect(options.limit, async (page) => {
    const query = { ...page, prefix: prefix ?? '', values: options.values ?? false };
    const { data } = (await session.api.json.list({ params: { artifactId }, query, signal })).body;
    entries.push(...(data.entries ?? []));
    count = data.count;
    return { items: data.keys, next: data.nextCursor };
  });
  const lines = options.values ? entries.map((entry) => `${entry.key}  ${timeText(entry.updatedAt)}  ${shortText(entry.value)}`) : keys;
  const document = { artifact_id: artifactId, keys, count, hasMore, ...(options.values ? { entries } : {}) };
  session.answer(document, lines.length === 0 ? 'No keys.' : lines.join('\n'));
  if (hasMore) session.remark(`${countText(count, 'key')} in all: easel data ls --limit ${count}`);
}

async function remove(
  session: Session,
  key: string | undefined,
  options: Named & { all?: boolean; yes?: boolean; ifMatch?: string },
): Promise<void> {
  if ((key === undefined) !== (options.all === true)) throw new CliFailure('usage', 'INVALID_USAGE', 'Give either a key or --all.');
  if (options.all && !options.yes) {
    throw new CliFailure(
      'usage',
      'CONFIRM',
      'This deletes every key and cannot be undone.',
      'Save them with "easel export" if you need them, then add --yes.',
    );
  }
  const artifactId = await artifactIdOf(session, options.artifact);
  const { signal } = session.shell;
  if (key === undefined) {
    const { data } = (await session.api.json.deleteAll({ params: { artifactId }, query: { confirm: 'true' }, signal })).body;
    session.answer(data, `Deleted ${countText(data.deleted, 'key')}.`);
    return;
  }
  const { data } = (await session.api.json.delete({ params: { artifactId, key }, ifMatch: options.ifMatch, signal })).body;
  session.answer(data, `Deleted ${key}.`);
}

type PatchOptions = Written & { path: string; increment?: number; append?: string; remove?: boolean };

/** The body and media type of the patch: a merge patch, a JSON patch, or one operation. */
function patchOf(given: string | undefined, options: PatchOptions): { body: unknown; mediaType: string } {
  const operations: unknown[] = [];
  if (options.increment !== undefined) operations.push({ op: 'increment', path: options.path, by: options.increment });
  if (options.append !== undefined)
    operations.push({ op: 'append', path: options.path, value: (parsed(options.append) ?? { value: options.append }).value });
  if (options.remove) operations.push({ op: 'remove', path: options.path });
  if (operations.length + (given === undefined ? 0 : 1) !== 1) {
    throw new CliFailure('usage', 'INVALID_USAGE', 'Give one change: a patch, --increment, --append or --remove.');
  }
  if (given === undefined) return { body: operations[0], mediaType: 'application/json' };
  const json = parsed(given);
  if (!json)
    throw new CliFailure('usage', 'INVALID_JSON', 'The patch is not JSON.', 'In a shell, put it in single quotes: \'{"done":true}\'.');
  const mediaType = Array.isArray(json.value) ? 'application/json-patch+json' : 'application/merge-patch+json';
  return { body: json.value, mediaType };
}

async function patch(session: Session, key: string, given: string | undefined, options: PatchOptions): Promise<void> {
  const { body, mediaType } = patchOf(given, options);
  const artifactId = await artifactIdOf(session, options.artifact);
  const query = { ttl: options.ttl };
  const { signal } = session.shell;
  const reply = await session.api.json.patch({
    params: { artifactId, key },
    query,
    body,
    mediaType,
    ifMatch: options.ifMatch,
    signal,
  });
  const { data } = reply.body;
  session.answer({ ...data, etag: reply.headers.get('etag') }, JSON.stringify(data.value, null, 2));
}

function figure(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('It must be a number.');
  return value;
}

const ttlOption = () => new Option('--ttl <seconds>', 'delete the key after this time').argParser(figure);
const ifMatchOption = () => new Option('--if-match <etag>', 'only if the value has not changed since this ETag');

function addReading(data: Command, open: OpenSession): void {
  data
    .command('get')
    .summary('print a value')
    .description('Prints a value, or the part of it at a path.')
    .argument('<key>')
    .option('--path <path>', 'for example $.players[0].name')
    .option('--raw', 'print text without quotes')
    .addOption(artifactOption())
    .addHelpText('after', "\nExamples:\n  easel data get greeting\n  easel data get game --path '$.score' -a my-site")
    .action(async (key, options, command) => get(await open(command), key, options));
  data
    .command('ls')
    .summary('list the keys')
    .description('Lists the keys in order.')
    .argument('[prefix]', 'only keys that begin with this')
    .option('--values', 'show times and values too')
    .addOption(limitOption())
    .addOption(artifactOption())
    .addHelpText('after', '\nExamples:\n  easel data ls\n  easel data ls score. --values')
    .action(async (prefix, options, command) => list(await open(command), prefix, options));
}

function addWriting(data: Command, open: OpenSession): void {
  data
    .command('set')
    .summary('store a value')
    .description('Stores a JSON value. A value that is not JSON is stored as text.')
    .argument('<key>')
    .argument('[value]', 'JSON or text ("-": standard input)')
    .option('--file <file>', 'read the value from a JSON file')
    .option('--text', 'store as text, even if it looks like JSON')
    .option('--create', 'only if there is no such key')
    .addOption(ttlOption())
    .addOption(ifMatchOption())
    .addOption(artifactOption())
    .addHelpText(
      'after',
      '\nExamples:\n  easel data set greeting hello\n  easel data set game \'{"score":0}\'\n  easel data set list --file list.json -a my-site',
    )
    .action(async (key, value, options, command) => set(await open(command), key, value, options));
  data
    .command('patch')
    .summary('change part of a value')
    .description('Changes a value atomically: an object is merged into it (RFC 7396), an array is applied as a JSON patch (RFC 6902).')
    .argument('<key>')
    .argument('[patch]')
    .option('--increment <by>', 'add to the number at --path', figure)
    .option('--append <value>', 'add to the list at --path')
    .option('--remove', 'remove the part at --path')
    .option('--path <path>', 'the part of the value that the three options above change', '$')
    .addOption(ttlOption())
    .addOption(ifMatchOption())
    .addOption(artifactOption())
    .addHelpText('after', "\nExamples:\n  easel data patch game '{\"level\":2}'\n  easel data patch game --increment 1 --path '$.score'")
    .action(async (key, change, options, command) => patch(await open(command), key, change, options));
  data
    .command('rm')
    .summary('delete a key, or all keys')
    .description('Deletes a key.')
    .argument('[key]')
    .option('--all', 'delete every key')
    .option('--yes', 'with --all: yes, really')
    .addOption(ifMatchOption())
    .addOption(artifactOption())
    .addHelpText('after', '\nExamples:\n  easel data rm greeting\n  easel data rm --all --yes -a my-site')
    .action(async (key, options, command) => remove(await open(command), key, options));
}

export function addDataCommands(program: Command, open: OpenSession): void {
  program.commandsGroup('Data');
  const data = program
    .command('data')
    .summary('read and write the stored values of a page')
    .description('Reads and writes the JSON keys of a page.')
    .addHelpText('after', '\nExamples:\n  easel data ls\n  easel data set greeting hello\n  easel data get greeting');
  addReading(data, open);
  addWriting(data, open);
}
