/** connections: list, create, show, update, test, delete. Descriptions come from a file, so that credentials stay out of the history of the shell. */
import type { Command } from 'commander';
import { CliFailure } from './failures.ts';
import { readGivenJson } from './given-files.ts';
import { collect, limitOption } from './paging.ts';
import type { OpenSession, Session } from './session.ts';
import { tableText, timeText } from './text.ts';

type Connections = Session['api']['connections'];
type Connection = Awaited<ReturnType<Connections['get']>>['body'];

const ID = /^con_[a-z0-9]{24}$/;

async function listed(session: Session, workspaceId: string, limit: number) {
  const { signal } = session.shell;
  return collect(limit, async (query) => {
    const { body } = await session.api.connections.list({ params: { workspaceId }, query, signal });
    return { items: body.connections, next: body.next_cursor };
  });
}

async function connectionId(session: Session, workspaceId: string, name: string): Promise<string> {
  if (ID.test(name)) return name;
  const { items } = await listed(session, workspaceId, Number.POSITIVE_INFINITY);
  const found = items.find((connection) => connection.name === name);
  if (found !== undefined) return found.id;
  const hint = `easel connections list ${workspaceId} shows them.`;
  throw new CliFailure('missing', 'CONNECTION_NOT_FOUND', `${workspaceId} has no connection "${name}".`, hint);
}

function credentialsText({ credentialScope, authType, has_credentials }: Connection): string {
  if (authType === 'none') return 'none needed';
  const stored = has_credentials ? 'stored' : 'missing';
  return credentialScope === 'person' ? `your own ${stored}` : stored;
}

async function list(session: Session, workspaceId: string, options: { limit: number }): Promise<void> {
  const { items, hasMore } = await listed(session, workspaceId, options.limit);
  const rows = items.map((one) => [
    one.name,
    one.type,
    credentialsText(one),
    one.last_used_at === null ? '-' : timeText(one.last_used_at),
    one.last_error ?? '',
  ]);
  const empty = `No connections yet. Begin with: easel connections create ${workspaceId} connection.json`;
  const head = ['NAME', 'TYPE', 'CREDENTIALS', 'LAST USED', 'LAST ERROR'];
  session.answer({ connections: items, has_more: hasMore }, rows.length === 0 ? empty : tableText(head, rows));
  if (hasMore) session.remark(`There are more: easel connections list ${workspaceId} --limit ${options.limit * 2}`);
}

async function create(session: Session, workspaceId: string, file: string): Promise<void> {
  const body = await readGivenJson<Parameters<Connections['create']>[0]['body']>(file, session.shell.stdin);
  const made = (await session.api.connections.create({ params: { workspaceId }, body, signal: session.shell.signal })).body;
  session.answer(made, `Made the connection ${made.name} (${made.type}), credentials ${credentialsText(made)}.`);
}

async function show(session: Session, workspaceId: string, name: string): Promise<void> {
  const params = { workspaceId, connectionId: await connectionId(session, workspaceId, name) };
  const found = (await session.api.connections.get({ params, signal: session.shell.signal })).body;
  const settings = Object.entries(found.config).map(([key, value]) => `  ${key}: ${value}`);
  session.answer(found, [`${found.name} (${found.type}), credentials ${credentialsText(found)}.`, ...settings].join('\n'));
}

async function update(session: Session, workspaceId: string, name: string, file: string): Promise<void> {
  const params = { workspaceId, connectionId: await connectionId(session, workspaceId, name) };
  const body = await readGivenJson<Parameters<Connections['update']>[0]['body']>(file, session.shell.stdin);
  const changed = (await session.api.connections.update({ params, body, signal: session.shell.signal })).body;
  session.answer(changed, `Changed ${changed.name}, credentials ${credentialsText(changed)}.`);
}

async function test(session: Session, workspaceId: string, name: string): Promise<void> {
  const connection_id = await connectionId(session, workspaceId, name);
  const { body } = await session.api.connections.test({ params: { workspaceId }, body: { connection_id }, signal: session.shell.signal });
  session.answer(body, [body.ok ? 'It works.' : `It does not work. ${body.error ?? ''}`, body.detail ?? ''].join(' ').trim());
}

async function remove(session: Session, workspaceId: string, name: string): Promise<void> {
  const params = { workspaceId, connectionId: await connectionId(session, workspaceId, name) };
  const done = (await session.api.connections.delete({ params, signal: session.shell.signal })).body;
  session.answer(done, `Deleted ${name} and its credentials.`);
}

const WORKSPACE = ['<workspace>', 'slug or id'] as const;
const CONNECTION = ['<connection>', 'name or id'] as const;
const EXAMPLE = `
Example of a file:
  {"name": "Sales", "type": "postgres", "config": {"host": "db.example.com", "database": "sales"},
   "credentials": {"username": "reader", "password": "…"}}

Examples:
  easel connections create maps sales.json
  easel connections create maps - < sales.json`;

export function addConnectionCommands(program: Command, open: OpenSession): void {
  program.commandsGroup('Workspaces');
  const group = program
    .command('connections')
    .summary('how a workspace reaches systems outside')
    .description('Lists, makes and changes connections. Credentials are stored sealed and are never shown.');
  group
    .command('list')
    .summary('list connections')
    .description('Lists the connections of a workspace, newest first.')
    .argument(...WORKSPACE)
    .addOption(limitOption())
    .addHelpText('after', '\nExample:\n  easel connections list maps')
    .action(async (workspace, options, command) => list(await open(command), workspace, options));
  group
    .command('create')
    .summary('make a connection from a JSON file')
    .description('Makes the connection that a JSON file describes.')
    .argument(...WORKSPACE)
    .argument('<file>', 'the description ("-": standard input)')
    .addHelpText('after', EXAMPLE)
    .action(async (workspace, file, _options, command) => create(await open(command), workspace, file));
  group
    .command('show')
    .summary('show a connection')
    .description('Shows a connection without its credentials.')
    .argument(...WORKSPACE)
    .argument(...CONNECTION)
    .addHelpText('after', '\nExample:\n  easel connections show maps Sales')
    .action(async (workspace, name, _options, command) => show(await open(command), workspace, name));
  group
    .command('update')
    .summary('change a connection, or store your credentials for it')
    .description('Changes what a JSON file names: name, authType, config as a whole, credentials.')
    .argument(...WORKSPACE)
    .argument(...CONNECTION)
    .argument('<file>', 'the changes ("-": standard input)')
    .addHelpText('after', '\nExample:\n  easel connections update maps Sales new-password.json')
    .action(async (workspace, name, file, _options, command) => update(await open(command), workspace, name, file));
  group
    .command('test')
    .summary('try a connection')
    .description('Connects once with its credentials, and says what is wrong: the name, the address, TLS, the credentials, the database.')
    .argument(...WORKSPACE)
    .argument(...CONNECTION)
    .addHelpText('after', '\nExample:\n  easel connections test maps Weather')
    .action(async (workspace, name, _options, command) => test(await open(command), workspace, name));
  group
    .command('delete')
    .summary('delete a connection and its credentials')
    .description('Deletes a connection and every credential of it.')
    .argument(...WORKSPACE)
    .argument(...CONNECTION)
    .addHelpText('after', '\nExample:\n  easel connections delete maps Sales')
    .action(async (workspace, name, _options, command) => remove(await open(command), workspace, name));
}
