/** sharees, grants, share-outside, shared, explain. */
import { type Command, Option } from 'commander';
import { CAPABILITIES, type Capability } from '../../../protocol/sharing/capability.ts';
import { artifactIdOf } from './artifact-name.ts';
import { CliFailure } from './failures.ts';
import { collect, limitOption } from './paging.ts';
import type { OpenSession, Session } from './session.ts';
import { tableText, timeText } from './text.ts';

const WORKSPACE = ['<workspace>', 'slug or id'] as const;

async function sharees(session: Session, workspaceId: string, options: { limit: number }): Promise<void> {
  const { signal } = session.shell;
  const { items, hasMore } = await collect(options.limit, async (query) => {
    const { body } = await session.api.sharees.list({ params: { workspaceId }, query, signal });
    return { items: body.sharees, next: body.next_cursor };
  });
  const rows = items.map(({ name, type, member_count, id }) => [name, type ?? '-', String(member_count), id]);
  const text = rows.length === 0 ? 'There are no client organisations.' : tableText(['NAME', 'TYPE', 'PEOPLE', 'ID'], rows);
  session.answer({ sharees: items, has_more: hasMore }, text);
  if (hasMore) session.remark(`There are more: easel sharees ${workspaceId} --limit ${options.limit * 2}`);
}

async function grants(session: Session, workspaceId: string, options: { limit: number }): Promise<void> {
  const { signal } = session.shell;
  const { items, hasMore } = await collect(options.limit, async (query) => {
    const { body } = await session.api.grants.list({ params: { workspaceId }, query, signal });
    return { items: body.grants, next: body.next_cursor };
  });
  const rows = items.map((grant) => [
    ...[grant.subject_name, grant.capability, `${grant.resource_type} ${grant.resource_name}`],
    ...[grant.expires_at === null ? 'never' : timeText(grant.expires_at), grant.id],
  ]);
  const text = rows.length === 0 ? 'Nothing is shared outside.' : tableText(['WITH', 'MAY', 'WHAT', 'ENDS', 'ID'], rows);
  session.answer({ grants: items, has_more: hasMore }, text);
  if (hasMore) session.remark(`There are more: easel grants list ${workspaceId} --limit ${options.limit * 2}`);
}

interface ShareOptions {
  readonly folder?: string;
  readonly file?: string;
  readonly may: Capability;
  readonly expires?: string;
}

async function resourceOf(session: Session, artifact: string | undefined, { folder, file }: ShareOptions) {
  if ([artifact, folder, file].filter((one) => one !== undefined).length > 1) {
    throw new CliFailure('usage', 'INVALID_USAGE', 'One thing is shared at a time.', 'Give an artifact, --folder or --file.');
  }
  if (folder !== undefined) return { resource_type: 'folder', resource_id: folder } as const;
  if (file !== undefined) return { resource_type: 'file', resource_id: file } as const;
  return { resource_type: 'artifact', resource_id: await artifactIdOf(session, artifact) } as const;
}

async function share(
  session: Session,
  workspaceId: string,
  email: string,
  artifact: string | undefined,
  options: ShareOptions,
): Promise<void> {
  const { signal } = session.shell;
  const resource = await resourceOf(session, artifact, options);
  const body = { email, ...resource, capability: options.may, ...(options.expires !== undefined && { expires_at: options.expires }) };
  const made = (await session.api.grants.sharePerson({ params: { workspaceId }, body, signal })).body;
  session.answer(made, `${made.subject_name} may ${made.capability} "${made.resource_name}".`);
}

async function end(session: Session, workspaceId: string, grantId: string): Promise<void> {
  const done = (await session.api.grants.delete({ params: { workspaceId, grantId }, signal: session.shell.signal })).body;
  session.answer(done, 'Ended. It opens nothing any more.');
}

async function shared(session: Session, options: { limit: number }): Promise<void> {
  const { signal } = session.shell;
  const { items, hasMore } = await collect(options.limit, async (query) => {
    const { body } = await session.api.shared.list({ query, signal });
    return { items: body.shared, next: body.next_cursor };
  });
  const rows = items.map((item) => [
    item.name,
    item.capability,
    item.workspace.name,
    item.url ?? `${item.resource_type} ${item.resource_id}`,
  ]);
  const text = rows.length === 0 ? 'Nothing is shared with you.' : tableText(['NAME', 'YOU MAY', 'FROM', 'WHERE'], rows);
  session.answer({ shared: items, has_more: hasMore }, text);
  if (hasMore) session.remark(`There are more: easel shared --limit ${options.limit * 2}`);
}

async function explain(session: Session, email: string, artifact: string | undefined): Promise<void> {
  const { signal } = session.shell;
  const id = await artifactIdOf(session, artifact);
  const told = (await session.api.access.explain({ params: { id }, query: { email }, signal })).body;
  const may = (['view', 'comment', 'edit'] as const).filter((ability) => told.can[ability]);
  const rows = told.because.map(({ rule, source, gives }) => [rule, sourceText(source), gives.join(', ')]);
  const first = `${told.email} may ${may.length === 0 ? 'do nothing with it' : may.join(', ')}.`;
  const pending = told.has_account ? '' : '\nNo account has proved this address yet.';
  session.answer(told, rows.length === 0 ? first + pending : `${first}${pending}\n${tableText(['RULE', 'FROM', 'GIVES'], rows)}`);
}

type Told = Awaited<ReturnType<Session['api']['access']['explain']>>['body'];

function sourceText(source: Told['because'][number]['source']): string {
  switch (source.type) {
    case 'owner':
      return 'owner';
    case 'collaborator':
      return `${source.role} by name`;
    case 'workspace':
      return `${source.role} of the workspace`;
    case 'grant':
      return `${source.resource_type} shared outside (${source.id})`;
    case 'visibility':
      return `visibility ${source.visibility}`;
    default:
      return source satisfies never;
  }
}

export function addExternalSharingCommands(program: Command, open: OpenSession): void {
  program
    .command('sharees')
    .summary('client organisations of a workspace')
    .description('Lists the client organisations with which a workspace shares, newest first.')
    .argument(...WORKSPACE)
    .addOption(limitOption())
    .addHelpText('after', '\nExample:\n  easel sharees maps')
    .action(async (workspace, options, command) => sharees(await open(command), workspace, options));
  const given = program
    .command('grants')
    .summary('what a workspace shares outside')
    .description('Lists, makes and ends what a workspace shares with people outside.');
  given
    .command('list')
    .description('Lists what is shared outside, newest first.')
    .argument(...WORKSPACE)
    .addOption(limitOption())
    .addHelpText('after', '\nExample:\n  easel grants list maps')
    .action(async (workspace, options, command) => grants(await open(command), workspace, options));
  given
    .command('add')
    .description('Shares an artifact, a folder or a file with an address outside, which is told by mail.')
    .argument(...WORKSPACE)
    .argument('<email>', 'the address')
    .argument('[artifact]', 'slug, id or folder (default: the artifact of this folder)')
    .option('--folder <id>', 'a folder instead of an artifact')
    .option('--file <id>', 'a file of the workspace, as "easel assets list" shows it, instead of an artifact; they may look at it')
    .addOption(new Option('--may <capability>', 'what they may do').choices(CAPABILITIES).default('view'))
    .option('--expires <time>', 'when it ends')
    .addHelpText(
      'after',
      '\nExamples:\n  easel grants add maps ada@client.example my-site --may comment\n  easel grants add maps ada@client.example --folder fld_tz4ndh6b2crpyfk3vq7m2xw5 --expires 2027-01-31T12:00:00Z',
    )
    .action(async (workspace, email, artifact, options, command) => share(await open(command), workspace, email, artifact, options));
  given
    .command('end')
    .description('Ends a grant at once.')
    .argument(...WORKSPACE)
    .argument('<grant>', 'the id that the list shows')
    .addHelpText('after', '\nExample:\n  easel grants end maps grt_pyfk3vq7m2xw5tz4ndh6b2cr')
    .action(async (workspace, grant, _options, command) => end(await open(command), workspace, grant));
  program
    .command('shared')
    .summary('what is shared with you')
    .description('Lists what workspaces share with you that you do not belong to, newest first.')
    .addOption(limitOption())
    .addHelpText('after', '\nExample:\n  easel shared')
    .action(async (options, command) => shared(await open(command), options));
  program
    .command('explain')
    .summary('who may what, and why')
    .description('Says what the person with an address may do with an artifact, and each rule that gives it.')
    .argument('<email>', 'the address of the person')
    .argument('[artifact]', 'slug, id or folder (default: the artifact of this folder)')
    .addHelpText('after', '\nExample:\n  easel explain ada@client.example my-site')
    .action(async (email, artifact, _options, command) => explain(await open(command), email, artifact));
}
