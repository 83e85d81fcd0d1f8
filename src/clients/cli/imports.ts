/** imports: list, connect, disconnect, browse, add, remove, sync, runs, cancel. */
import type { Command } from 'commander';
import { CliFailure } from './failures.ts';
import { folderIdOf } from './folder-name.ts';
import { collect, limitOption } from './paging.ts';
import type { OpenSession, Session } from './session.ts';
import { tableText, timeText } from './text.ts';

type Imports = Session['api']['fileImports'];
type Listed = Awaited<ReturnType<Imports['list']>>['body'];
type Run = Awaited<ReturnType<Imports['run']>>['body']['run'];
type Provider = Listed['providers'][number]['id'];

const SOURCE_ID = /^ims_[a-z0-9]{24}$/;

/** What the service does not know it refuses with the names that it knows. */
function providerOf(name: string): Provider {
  return name as Provider;
}

async function listed(session: Session, workspaceId: string): Promise<Listed> {
  return (await session.api.fileImports.list({ params: { workspaceId }, signal: session.shell.signal })).body;
}

async function sourceId(session: Session, workspaceId: string, name: string): Promise<string> {
  if (SOURCE_ID.test(name)) return name;
  const found = (await listed(session, workspaceId)).sources.filter(({ remoteName }) => remoteName === name);
  const [one] = found;
  if (one !== undefined && found.length === 1) return one.id;
  const message =
    one === undefined ? `${workspaceId} has no source "${name}".` : `${workspaceId} has several sources "${name}"; name one by its id.`;
  throw new CliFailure('missing', 'IMPORT_SOURCE_NOT_FOUND', message, `easel imports list ${workspaceId} shows them.`);
}

function countsText({ counts, status, stopCode }: Run): string {
  const done = `${counts.imported + counts.converted} new, ${counts.unchanged} unchanged, ${counts.skipped} skipped, ${counts.failed} failed`;
  return `${status}${stopCode === null ? '' : ` (${stopCode})`}: ${done}`;
}

async function list(session: Session, workspaceId: string): Promise<void> {
  const body = await listed(session, workspaceId);
  const drives = body.providers.map(
    ({ id, connected, accountEmail }) => `${id}: ${connected ? `connected as ${accountEmail ?? '?'}` : 'not connected'}`,
  );
  const rows = body.sources.map((one) => [
    one.id,
    one.remoteName,
    one.targetFolderName ?? '-',
    one.connected ? 'yes' : 'no',
    one.nextSyncAt === null ? '-' : timeText(one.nextSyncAt),
    one.lastRun === null ? 'never' : countsText(one.lastRun),
  ]);
  const head = ['ID', 'SOURCE', 'INTO', 'CONNECTED', 'NEXT RUN', 'LAST RUN'];
  const none = drives.length === 0 ? 'No drives can be connected here.' : 'No sources yet.';
  session.answer(body, [...drives, rows.length === 0 ? none : tableText(head, rows)].join('\n'));
}

async function connect(session: Session, workspaceId: string, provider: string): Promise<void> {
  const params = { workspaceId, provider: providerOf(provider) };
  const { body } = await session.api.fileImports.connect({ params, signal: session.shell.signal });
  session.answer(body, body.authorize_url);
  session.remark('Open this address in a browser in which you are signed in here.');
}

async function disconnect(session: Session, workspaceId: string, provider: string): Promise<void> {
  const params = { workspaceId, provider: providerOf(provider) };
  const { body } = await session.api.fileImports.disconnect({ params, signal: session.shell.signal });
  session.answer(body, `Disconnected ${provider}. Sources stay, and run when it is connected again.`);
}

async function browse(session: Session, workspaceId: string, provider: string, ref: string | undefined, { search }: { search?: string }) {
  const params = { workspaceId, provider: providerOf(provider) };
  const query = { ...(ref !== undefined && { ref }), ...(search !== undefined && { q: search }) };
  const { body } = await session.api.fileImports.browse({ params, query, signal: session.shell.signal });
  const rows = body.entries.map((one) => [one.name, one.kind, one.selectable ? 'yes' : 'no', one.ref]);
  session.answer(body, rows.length === 0 ? 'Nothing there.' : tableText(['NAME', 'KIND', 'CAN BE ADDED', 'REF'], rows));
}

interface AddOptions {
  readonly into: string;
  readonly convert?: true;
  readonly daily?: true;
}

async function add(
  session: Session,
  workspaceId: string,
  provider: string,
  ref: string,
  { into, convert, daily }: AddOptions,
): Promise<void> {
  const targetFolderId = await folderIdOf(session, into, workspaceId);
  const body = { provider: providerOf(provider), ref, targetFolderId, convert: convert === true, dailySync: daily === true };
  const made = (await session.api.fileImports.createSource({ params: { workspaceId }, body, signal: session.shell.signal })).body;
  session.answer(made, `Added ${made.remoteName}, into ${made.targetFolderName ?? into}.`);
  session.remark(`Fetch its files: easel imports sync ${workspaceId} ${made.id}`);
}

async function remove(session: Session, workspaceId: string, name: string): Promise<void> {
  const params = { workspaceId, sourceId: await sourceId(session, workspaceId, name) };
  const { body } = await session.api.fileImports.deleteSource({ params, signal: session.shell.signal });
  session.answer(body, `Removed the source ${name}. What was imported stays.`);
}

async function sync(session: Session, workspaceId: string, name: string): Promise<void> {
  const params = { workspaceId, sourceId: await sourceId(session, workspaceId, name) };
  const { body } = await session.api.fileImports.sync({ params, signal: session.shell.signal });
  session.answer(body, `Began the run ${body.run.id}.`);
  session.remark(`See how it goes: easel imports runs ${workspaceId} ${params.sourceId}`);
}

async function runs(session: Session, workspaceId: string, name: string, options: { limit: number }): Promise<void> {
  const id = await sourceId(session, workspaceId, name);
  const { signal } = session.shell;
  const { items, hasMore } = await collect(options.limit, async (page) => {
    const { body } = await session.api.fileImports.runs({ params: { workspaceId }, query: { sourceId: id, ...page }, signal });
    return { items: body.runs, next: body.nextCursor };
  });
  const rows = items.map((run) => [run.id, timeText(run.createdAt), run.trigger, countsText(run)]);
  const [newest] = items;
  const errors = (newest?.errors ?? []).map(({ path, status, code, message }) => `  ${path}: ${status}, ${code}. ${message}`);
  const shown = rows.length === 0 ? 'It has never run.' : [tableText(['ID', 'BEGAN', 'TRIGGER', 'OUTCOME'], rows), ...errors].join('\n');
  session.answer({ runs: items, has_more: hasMore }, shown);
}

async function cancel(session: Session, workspaceId: string, runId: string): Promise<void> {
  const { body } = await session.api.fileImports.cancel({ params: { workspaceId, runId }, signal: session.shell.signal });
  session.answer(body, `The run ${runId} ends. What it has imported stays.`);
}

const WORKSPACE = ['<workspace>', 'slug or id'] as const;
const PROVIDER = ['<provider>', 'cloud_drive or office_suite'] as const;
const SOURCE = ['<source>', 'name or id'] as const;

export function addImportCommands(program: Command, open: OpenSession): void {
  program.commandsGroup('Workspaces');
  const group = program
    .command('imports')
    .summary('files from cloud drives')
    .description('Brings files of cloud drives into folders of a workspace, and keeps them up to date.');
  addDriveCommands(group, open);
  addSourceCommands(group, open);
}

function addDriveCommands(group: Command, open: OpenSession): void {
  group
    .command('list')
    .summary('list drives and sources')
    .description('Lists the drives that can be connected, and the sources of files.')
    .argument(...WORKSPACE)
    .addHelpText('after', '\nExample:\n  easel imports list maps')
    .action(async (workspace, _options, command) => list(await open(command), workspace));
  group
    .command('connect')
    .summary('connect a drive of yours')
    .description('Prints the address at which the provider asks you. Open it in a browser in which you are signed in here.')
    .argument(...WORKSPACE)
    .argument(...PROVIDER)
    .addHelpText('after', '\nExample:\n  easel imports connect maps cloud_drive')
    .action(async (workspace, provider, _options, command) => connect(await open(command), workspace, provider));
  group
    .command('disconnect')
    .summary('forget the access to your drive')
    .description('Forgets the access to your drive. Sources stay, and do not run until it is connected again.')
    .argument(...WORKSPACE)
    .argument(...PROVIDER)
    .addHelpText('after', '\nExample:\n  easel imports disconnect maps cloud_drive')
    .action(async (workspace, provider, _options, command) => disconnect(await open(command), workspace, provider));
  group
    .command('browse')
    .summary('look into your drive')
    .description('Shows drives and sites, or the folders in one of them.')
    .argument(...WORKSPACE)
    .argument(...PROVIDER)
    .argument('[ref]', 'of an entry that was shown before')
    .option('--search <text>', 'sites of office_suite')
    .addHelpText('after', '\nExample:\n  easel imports browse maps cloud_drive')
    .action(async (workspace, provider, ref, options, command) => browse(await open(command), workspace, provider, ref, options));
}

function addSourceCommands(group: Command, open: OpenSession): void {
  group
    .command('add')
    .summary('make a folder of a drive a source')
    .description('Makes a folder of your drive a source of files for a Team Space folder.')
    .argument(...WORKSPACE)
    .argument(...PROVIDER)
    .argument('<ref>', 'as browse shows it')
    .requiredOption('--into <folder>', 'the Team Space folder: its path or id')
    .option('--convert', 'documents become pages, sheets become datasets')
    .option('--daily', 'look for what is new every day')
    .addHelpText('after', '\nExample:\n  easel imports add maps cloud_drive AWmXo0Jt5u3n --into plans --daily')
    .action(async (workspace, provider, ref, options, command) => add(await open(command), workspace, provider, ref, options));
  group
    .command('remove')
    .summary('remove a source')
    .description('Removes a source with its runs. What was imported stays.')
    .argument(...WORKSPACE)
    .argument(...SOURCE)
    .addHelpText('after', '\nExample:\n  easel imports remove maps Plans')
    .action(async (workspace, source, _options, command) => remove(await open(command), workspace, source));
  group
    .command('sync')
    .summary('look for what is new')
    .description('Begins a run that fetches new and changed files.')
    .argument(...WORKSPACE)
    .argument(...SOURCE)
    .addHelpText('after', '\nExample:\n  easel imports sync maps Plans')
    .action(async (workspace, source, _options, command) => sync(await open(command), workspace, source));
  group
    .command('runs')
    .summary('list runs')
    .description('Lists the runs of a source, newest first, with what the newest one tells of files.')
    .argument(...WORKSPACE)
    .argument(...SOURCE)
    .addOption(limitOption())
    .addHelpText('after', '\nExample:\n  easel imports runs maps Plans')
    .action(async (workspace, source, options, command) => runs(await open(command), workspace, source, options));
  group
    .command('cancel')
    .summary('end a run')
    .description('Ends a run. What it has imported stays.')
    .argument(...WORKSPACE)
    .argument('<run>', 'its id')
    .addHelpText('after', '\nExample:\n  easel imports cancel maps imr_…')
    .action(async (workspace, run, _options, command) => cancel(await open(command), workspace, run));
}
