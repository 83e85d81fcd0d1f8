/** catalog: list, show, lineage, enable, disable, create, update, give, delete. What data there is in a workspace. */
import type { Command } from 'commander';
import { type CatalogKind, catalogKind } from '../../../protocol/library/catalog.ts';
import { CliFailure } from './failures.ts';
import { readGivenJson } from './given-files.ts';
import { collect, limitOption } from './paging.ts';
import type { OpenSession, Session } from './session.ts';
import { tableText, timeText } from './text.ts';
import { memberId } from './workspaces.ts';

type Catalog = Session['api']['catalog'];
type Entry = Awaited<ReturnType<Catalog['get']>>['body'];

interface Narrowed {
  readonly limit: number;
  readonly kind?: string;
  readonly domain?: string;
  readonly tag?: string;
}

const ID = /^cat_[a-z0-9]{24}$/;

function kindOf(given: string | undefined): CatalogKind | undefined {
  const known = catalogKind.options.find((kind) => kind === given);
  if (given === undefined || known !== undefined) return known;
  throw new CliFailure('usage', 'INVALID_USAGE', `--kind "${given}" is not known.`, `There are: ${catalogKind.options.join(', ')}.`);
}

async function found(session: Session, workspaceId: string, q: string, { limit, kind, domain, tag }: Narrowed) {
  let isEnabled = true;
  const narrowed = { q, kind: kindOf(kind), domain, tag };
  const { items, hasMore } = await collect(limit, async (page) => {
    const { body } = await session.api.catalog.list({
      params: { workspaceId },
      query: { ...narrowed, ...page },
      signal: session.shell.signal,
    });
    isEnabled = body.enabled;
    return { items: body.entries, next: body.next_cursor };
  });
  return { items, hasMore, isEnabled };
}

async function entryIdOf(session: Session, workspaceId: string, name: string): Promise<string> {
  if (ID.test(name)) return name;
  const { items } = await found(session, workspaceId, name.slice(0, 200).replaceAll('/', ' '), { limit: 1000 });
  const named = items.filter((entry) => entry.name === name || `${entry.source.name}/${entry.name}` === name);
  const [first] = named;
  if (first !== undefined && named.length === 1) return first.id;
  if (first !== undefined) {
    const choices = named.map(({ id, kind, source }) => `${id} (${kind} of ${source.name})`).join(', ');
    throw new CliFailure('usage', 'AMBIGUOUS', `The catalog has ${named.length} entries "${name}".`, `Give the id of one: ${choices}.`);
  }
  const hint = `easel catalog list ${workspaceId} shows what there is.`;
  throw new CliFailure('missing', 'CATALOG_ENTRY_NOT_FOUND', `The catalog has no entry "${name}".`, hint);
}

async function list(session: Session, workspaceId: string, words: readonly string[], options: Narrowed): Promise<void> {
  const { items, hasMore, isEnabled } = await found(session, workspaceId, words.join(' '), options);
  const rows = items.map((one) => [
    one.name,
    one.kind,
    one.source.type === 'artifact' ? one.source.name : '-',
    one.domain ?? '-',
    one.tags.join(', ') || '-',
    one.freshness.rows === null ? '-' : String(one.freshness.rows),
    one.freshness.changed_at === null ? '-' : timeText(one.freshness.changed_at),
  ]);
  const empty = isEnabled ? 'Nothing found.' : `There is no catalog yet. Make it with: easel catalog enable ${workspaceId}`;
  const head = ['NAME', 'KIND', 'OF', 'DOMAIN', 'TAGS', 'ROWS', 'CHANGED'];
  session.answer({ enabled: isEnabled, entries: items, has_more: hasMore }, rows.length === 0 ? empty : tableText(head, rows));
  if (hasMore) session.remark(`There are more: add --limit ${options.limit * 2}.`);
}

function entryText(entry: Entry): string {
  const { name, kind, domain, tags, description, owner, source, fields, freshness } = entry;
  const facts = [
    ['Of', source.type === 'artifact' ? `${source.name} (${source.id})` : '-'],
    ['Owner', owner === null ? 'the workspace' : (owner.name ?? owner.id)],
    ['Domain', domain ?? '-'],
    ['Tags', tags.join(', ') || '-'],
    ['Rows', freshness.rows === null ? '-' : String(freshness.rows)],
    ['Changed', freshness.changed_at === null ? '-' : timeText(freshness.changed_at)],
  ].map(([label = '', value]) => `${label.padEnd(8)} ${value}`);
  const columns = fields.map((field) => `  ${field.name} (${field.type})${field.description === '' ? '' : `: ${field.description}`}`);
  const parts = [[`${name} (${kind})`, ...facts].join('\n'), ...(columns.length === 0 ? [] : [`Fields:\n${columns.join('\n')}`])];
  return [...parts, ...(description === '' ? [] : [description])].join('\n\n');
}

async function show(session: Session, workspaceId: string, name: string): Promise<void> {
  const params = { workspaceId, entryId: await entryIdOf(session, workspaceId, name) };
  const entry = (await session.api.catalog.get({ params, signal: session.shell.signal })).body;
  session.answer(entry, entryText(entry));
}

async function lineage(session: Session, workspaceId: string, name: string): Promise<void> {
  const params = { workspaceId, entryId: await entryIdOf(session, workspaceId, name) };
  const { body } = await session.api.catalog.lineage({ params, signal: session.shell.signal });
  const names = new Map(
    body.nodes.map((node) => [node.id, `${node.name} (${node.kind}${node.source_name === '' ? '' : ` of ${node.source_name}`})`]),
  );
  const lines = body.edges.map(({ from, to }) => `${names.get(from)} → ${names.get(to)}`);
  session.answer(
    body,
    lines.length === 0
      ? 'No job or import makes it, no job makes something from it, and no page or script has used it lately.'
      : lines.join('\n'),
  );
  if (body.truncated) session.remark('There is more; these are the nearest.');
}

async function enable(session: Session, workspaceId: string): Promise<void> {
  const { body } = await session.api.catalog.enable({ params: { workspaceId }, signal: session.shell.signal });
  session.answer(body, `The workspace has a catalog of ${body.entries} entries.`);
}

async function disable(session: Session, workspaceId: string): Promise<void> {
  const { body } = await session.api.catalog.disable({ params: { workspaceId }, signal: session.shell.signal });
  session.answer(body, 'The workspace has no catalog any more. What was written in it is kept.');
}

async function create(session: Session, workspaceId: string, file: string): Promise<void> {
  const body = await readGivenJson<Parameters<Catalog['create']>[0]['body']>(file, session.shell.stdin);
  const entry = (await session.api.catalog.create({ params: { workspaceId }, body, signal: session.shell.signal })).body;
  session.answer(entry, `Made the entry ${entry.name}: ${entry.id}`);
}

async function update(session: Session, workspaceId: string, name: string, file: string): Promise<void> {
  const params = { workspaceId, entryId: await entryIdOf(session, workspaceId, name) };
  const body = await readGivenJson<Parameters<Catalog['update']>[0]['body']>(file, session.shell.stdin);
  const entry = (await session.api.catalog.update({ params, body, signal: session.shell.signal })).body;
  session.answer(entry, `Changed ${entry.name}.`);
}

/** `who`: id or address of a member, or "-" for the workspace itself. */
async function give(session: Session, workspaceId: string, name: string, who: string): Promise<void> {
  const params = { workspaceId, entryId: await entryIdOf(session, workspaceId, name) };
  const owner = who === '-' ? null : { id: await memberId(session, workspaceId, who) };
  const entry = (await session.api.catalog.update({ params, body: { owner }, signal: session.shell.signal })).body;
  const owned = entry.owner === null ? 'the workspace' : (entry.owner.name ?? entry.owner.id);
  session.answer(entry, `${entry.name} belongs to ${owned} now.`);
}

async function remove(session: Session, workspaceId: string, name: string): Promise<void> {
  const params = { workspaceId, entryId: await entryIdOf(session, workspaceId, name) };
  const done = (await session.api.catalog.delete({ params, signal: session.shell.signal })).body;
  session.answer(done, `Deleted ${name}.`);
}

const WORKSPACE = ['<workspace>', 'slug or id'] as const;
const ENTRY = ['<entry>', 'name, page/name or id'] as const;

export function addCatalogCommands(program: Command, open: OpenSession): void {
  program.commandsGroup('Workspaces');
  const group = program
    .command('catalog')
    .summary('what data there is in a workspace')
    .description('Finds tables, datasets, connections and notes of a workspace, and what is made from what.');
  group
    .command('list')
    .summary('list or find entries')
    .description('Lists what data there is that you may see, last changed first; with words only what has all of them.')
    .argument(...WORKSPACE)
    .argument('[words...]', 'of names, fields, tags and descriptions')
    .option('--kind <kind>', catalogKind.options.join(', '))
    .option('--domain <domain>', 'only of this domain')
    .option('--tag <tag>', 'only with this tag')
    .addOption(limitOption())
    .addHelpText('after', '\nExample:\n  easel catalog list maps orders --kind table')
    .action(async (workspace, words, options, command) => list(await open(command), workspace, words, options));
  group
    .command('show')
    .summary('show an entry with its fields')
    .description('Shows an entry with its fields, owner and freshness.')
    .argument(...WORKSPACE)
    .argument(...ENTRY)
    .addHelpText('after', '\nExample:\n  easel catalog show maps orders')
    .action(async (workspace, name, _options, command) => show(await open(command), workspace, name));
  group
    .command('lineage')
    .summary('what an entry is made from, and what from it')
    .description('Shows what jobs and imports make an entry from, what jobs make from it, and which pages and scripts of jobs use it.')
    .argument(...WORKSPACE)
    .argument(...ENTRY)
    .addHelpText('after', '\nExample:\n  easel catalog lineage maps totals')
    .action(async (workspace, name, _options, command) => lineage(await open(command), workspace, name));
  group
    .command('enable')
    .summary('make the catalog of a workspace')
    .description('Makes the catalog of a workspace that you run.')
    .argument(...WORKSPACE)
    .addHelpText('after', '\nExample:\n  easel catalog enable maps')
    .action(async (workspace, _options, command) => enable(await open(command), workspace));
  group
    .command('disable')
    .summary('hide the catalog of a workspace')
    .description('Hides the catalog of a workspace that you run. What was written in it is there again once it is enabled.')
    .argument(...WORKSPACE)
    .addHelpText('after', '\nExample:\n  easel catalog disable maps')
    .action(async (workspace, _options, command) => disable(await open(command), workspace));
  group
    .command('create')
    .summary('write an entry from a JSON file')
    .description('Writes an entry about data that is elsewhere: name, domain, tags, description in Markdown, fields.')
    .argument(...WORKSPACE)
    .argument('<file>', 'the entry ("-": standard input)')
    .addHelpText(
      'after',
      '\nExample of a file:\n  {"name": "Ledger", "domain": "Finance", "tags": ["monthly"], "description": "Closed on the **third** day."}\n\nExample:\n  easel catalog create maps ledger.json',
    )
    .action(async (workspace, file, _options, command) => create(await open(command), workspace, file));
  group
    .command('update')
    .summary('change what is written about an entry')
    .description('Changes what a JSON file names: domain, tags, description, descriptions of fields; of a note also its name.')
    .argument(...WORKSPACE)
    .argument(...ENTRY)
    .argument('<file>', 'the changes ("-": standard input)')
    .addHelpText('after', '\nExample:\n  easel catalog update maps orders about-orders.json')
    .action(async (workspace, name, file, _options, command) => update(await open(command), workspace, name, file));
  group
    .command('give')
    .summary('give a note to another member')
    .description('Makes another member the owner of a note that is yours, or is in a workspace that you run.')
    .argument(...WORKSPACE)
    .argument(...ENTRY)
    .argument('<member>', 'e-mail address or id ("-": the workspace itself)')
    .addHelpText('after', '\nExample:\n  easel catalog give maps Ledger ada@example.com')
    .action(async (workspace, name, member, _options, command) => give(await open(command), workspace, name, member));
  group
    .command('delete')
    .summary('delete a note')
    .description('Deletes a note. Other entries go with what they describe.')
    .argument(...WORKSPACE)
    .argument(...ENTRY)
    .addHelpText('after', '\nExample:\n  easel catalog delete maps Ledger')
    .action(async (workspace, name, _options, command) => remove(await open(command), workspace, name));
}
