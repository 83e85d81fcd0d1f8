/** ls, open, visibility, delete, restore, export, import. */
import { writeFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { type ArtifactSort, artifactSort, visibility as visibilities } from '../../../protocol/artifacts/artifacts.ts';
import { LIMITS } from '../../../protocol/core/limits.ts';
import { addAnalyticsCommand } from './analytics.ts';
import { artifactIdOf } from './artifact-name.ts';
import { openBrowser } from './browser.ts';
import { CliFailure } from './failures.ts';
import { folderIdOf, workspaceOption } from './folder-name.ts';
import { fileFailure, readGiven } from './given-files.ts';
import { collect, limitOption } from './paging.ts';
import { previewLink } from './preview.ts';
import type { OpenSession, Session } from './session.ts';
import { EXPORT_SUFFIX } from './source.ts';
import { readBytes } from './standard-input.ts';
import { bytesText, seenBy, tableText, timeText } from './text.ts';

interface ListOptions {
  readonly limit: number;
  readonly trash?: boolean;
  readonly favorites?: boolean;
  readonly shared?: boolean;
  readonly sort?: ArtifactSort;
  readonly workspace?: string;
  readonly folder?: string;
}

async function list(session: Session, options: ListOptions): Promise<void> {
  const { signal } = session.shell;
  const workspace_id = options.workspace;
  const folder_id = options.folder === undefined ? undefined : await folderIdOf(session, options.folder, workspace_id);
  const listed = { favorites: options.favorites ?? false, shared: options.shared ?? false, sort: options.sort };
  const { items: artifacts, hasMore } = await collect(options.limit, async (query) => {
    const { body } = options.trash
      ? await session.api.artifacts.listDeleted({ query: { ...query, workspace_id }, signal })
      : await session.api.artifacts.list({ query: { ...query, ...listed, workspace_id, folder_id }, signal });
    return { items: body.artifacts, next: body.next_cursor };
  });
  const rows = artifacts.map((item) => [
    item.slug,
    item.visibility,
    item.live_version_no === null ? '-' : String(item.live_version_no),
    timeText(options.trash && item.recoverable_until ? item.recoverable_until : item.updated_at),
    item.name,
    item.url,
  ]);
  const head = ['SLUG', 'WHO', 'LIVE', options.trash ? 'KEPT UNTIL' : 'CHANGED', 'NAME', 'ADDRESS'];
  const empty = options.trash ? 'The trash is empty.' : emptyText(options);
  const text = rows.length === 0 ? empty : tableText(head, rows);
  session.answer({ artifacts, has_more: hasMore }, text);
  if (hasMore) session.remark(`There are more: easel ls --limit ${options.limit * 2}`);
}

function emptyText({ workspace, folder, favorites, shared }: ListOptions): string {
  if (shared) return 'Nobody shares an artifact with you by name.';
  if (favorites) return 'You have no favourites here.';
  const where = `${workspace === undefined ? '' : ` -w ${workspace}`}${folder === undefined ? '' : ` --folder ${folder}`}`;
  const nothing = where === '' ? 'You have not published anything yet.' : 'Nothing that you see is published there.';
  return `${nothing} Begin with: easel publish my-folder${where}`;
}

async function newestVersionId(session: Session, artifactId: string): Promise<string> {
  const { signal } = session.shell;
  const [newest] = (await session.api.versions.list({ params: { id: artifactId }, query: { limit: 1 }, signal })).body.versions;
  if (newest) return newest.id;
  throw new CliFailure('missing', 'NO_VERSION', 'The artifact has no version yet.', 'Publish one first.');
}

async function openArtifact(session: Session, name: string | undefined, options: { print?: boolean }): Promise<void> {
  const id = await artifactIdOf(session, name);
  const artifact = (await session.api.artifacts.get({ params: { id }, signal: session.shell.signal })).body;
  const openToAll = artifact.visibility === 'public' && artifact.live_version_id !== null;
  const inBrowser = !session.json && !options.print;
  if (inBrowser && !openToAll && artifact.live_version_id !== null && (await signsIn(session))) {
    session.answer(artifact, artifact.url);
    session.remark(`${seenBy(artifact.visibility)}; the browser shows it to you as who you are signed in there.`);
    await openBrowser(`${session.url}/open?${new URLSearchParams({ slug: artifact.slug })}`, session.shell.env);
    return;
  }
  const preview = openToAll ? undefined : await previewLink(session, id, artifact.live_version_id ?? (await newestVersionId(session, id)));
  const { slug, url, visibility } = artifact;
  const document = { artifact_id: id, slug, url, visibility, preview_url: preview?.url, preview_expires_at: preview?.expires_at };
  const address = preview?.url ?? url;
  session.answer(document, address);
  if (preview) session.remark(`${seenBy(artifact.visibility)}; this link shows it to anyone until ${timeText(preview.expires_at)}.`);
  if (inBrowser) await openBrowser(address, session.shell.env);
}

/** Whether the account can sign in in a browser. One that has only a token cannot, and sees its pages by a preview link. */
async function signsIn(session: Session): Promise<boolean> {
  const { user } = (await session.api.accounts.me({ signal: session.shell.signal })).body;
  return user !== null && user.email !== null;
}

const VISITORS = ['read', 'write', 'collab'] as const;

interface VisibilityOptions {
  readonly password?: string;
  /** In ascending order: each value includes the permissions of those before it. */
  readonly visitors?: (typeof VISITORS)[number];
}

async function setVisibility(session: Session, who: string, name: string | undefined, options: VisibilityOptions): Promise<void> {
  const visibility = visibilities.safeParse(who);
  if (!visibility.success) {
    throw new CliFailure('usage', 'INVALID_VISIBILITY', `There is no visibility "${who}".`, `Choose ${visibilities.options.join(', ')}.`);
  }
  const id = await artifactIdOf(session, name);
  const reply = await session.api.artifacts.update({
    params: { id },
    body: {
      visibility: visibility.data,
      password: options.password,
      ...(options.visitors !== undefined && {
        allow_anon_write: options.visitors !== 'read',
        allow_anon_collab: options.visitors === 'collab',
      }),
    },
    signal: session.shell.signal,
  });
  // The service answers 202 and applies only the other settings. The visibility has not changed, and a script must notice.
  if (reply.status === 202) {
    const notice = 'notice' in reply.body ? reply.body.notice : undefined;
    throw new CliFailure('access', 'VISIBILITY_HELD', notice ?? `The page cannot be ${who} yet.`, `It stays ${reply.body.visibility}.`);
  }
  session.answer(reply.body, `${reply.body.slug} is ${reply.body.visibility}${visitorsOf(reply.body)}: ${reply.body.url}`);
}

function visitorsOf(page: {
  readonly visibility: string;
  readonly allow_anon_write: boolean;
  readonly allow_anon_collab: boolean;
}): string {
  if (page.visibility !== 'public') return '';
  const may = [
    ...(page.allow_anon_write ? ['write its data'] : []),
    ...(page.allow_anon_collab ? ['join in its documents and presence'] : []),
  ];
  return may.length === 0 ? '' : `; visitors may ${may.join(' and ')}`;
}

async function remove(session: Session, name: string): Promise<void> {
  const id = await artifactIdOf(session, name);
  const gone = (await session.api.artifacts.delete({ params: { id }, signal: session.shell.signal })).body;
  session.answer(gone, `Moved to the trash until ${timeText(gone.recoverable_until)}. To bring it back: easel restore ${id}`);
}

async function restore(session: Session, name: string): Promise<void> {
  const id = await artifactIdOf(session, name, true);
  const artifact = (await session.api.artifacts.restore({ params: { id }, signal: session.shell.signal })).body;
  session.answer(artifact, `Restored ${artifact.slug}: ${artifact.url}`);
}

async function exportZip(session: Session, name: string | undefined, options: { output?: string; force?: boolean }): Promise<void> {
  const { signal, stdout } = session.shell;
  const id = await artifactIdOf(session, name);
  if (options.output === '-' && session.json)
    throw new CliFailure('usage', 'INVALID_USAGE', 'With --json the zip cannot go to standard output.');
  const file = options.output ?? `${(await session.api.artifacts.get({ params: { id }, signal })).body.slug}${EXPORT_SUFFIX}`;
  const zip = (await session.api.artifacts.export({ params: { id }, signal })).body;
  if (file === '-') {
    stdout.write(zip);
    return;
  }
  await writeFile(file, zip, { flag: options.force ? 'w' : 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST')
      throw new CliFailure('conflict', 'FILE_EXISTS', `${file} exists already.`, 'Choose another file with -o, or add --force.');
    throw fileFailure(error, 'written', file);
  });
  session.answer({ artifact_id: id, file, bytes: zip.length }, `Wrote ${file}, ${bytesText(zip.length)}.`);
}

async function importZip(session: Session, file: string, options: { slug?: string; name?: string }): Promise<void> {
  const bytes = file === '-' ? await readBytes(session.shell.stdin) : await readGiven(file);
  const query = { slug: options.slug, name: options.name };
  const made = (await session.api.artifacts.import({ query, body: bytes, signal: session.shell.signal })).body;
  const text = `Imported as ${made.deployment.slug}: ${made.deployment.url}${made.notice ? `\n${made.notice}` : ''}\nTo see it: easel open ${made.deployment.slug}`;
  session.answer(made, text);
}

const ARTIFACT = ['[artifact]', 'slug, id or folder (default: the artifact of this folder)'] as const;

function addSeeing(program: Command, open: OpenSession): void {
  program.commandsGroup('Publish and see');
  program
    .command('ls')
    .alias('list')
    .summary('list artifacts')
    .description('Lists your artifacts or those of a workspace, last changed first.')
    .addOption(workspaceOption())
    .option('--folder <folder>', 'only those in this folder (path or id)')
    .option('--favorites', 'only favourites')
    .addOption(new Option('--shared', 'only what others share with you by name').conflicts(['favorites', 'workspace', 'folder']))
    .addOption(new Option('--sort <order>', 'the order; a minus turns it around').choices(artifactSort.options))
    .addOption(new Option('--trash', 'deleted artifacts that can be restored').conflicts(['favorites', 'shared', 'sort', 'folder']))
    .addOption(limitOption())
    .addHelpText(
      'after',
      '\nExamples:\n  easel ls\n  easel ls -w maps --folder reports/2026\n  easel ls --trash\n  easel ls --json --limit 1000',
    )
    .action(async (options, command) => list(await open(command), options));
  program
    .command('open')
    .summary('open a page in the browser')
    .description(
      'Prints the address of the page and opens it in a browser, if there is one. A page that is not public opens for whom the browser is signed in as; with --print, --json or an account without a sign-in it gets a preview link.',
    )
    .argument(...ARTIFACT)
    .option('--print', 'only print the address')
    .addHelpText('after', '\nExamples:\n  easel open\n  easel open my-site\n  easel open my-folder --print')
    .action(async (artifact, options, command) => openArtifact(await open(command), artifact, options));
  program
    .command('visibility')
    .summary('choose who can see a page')
    .description('Sets who can see the page: private, workspace, public or password.')
    .argument('<who>', visibilities.options.join(', '))
    .argument(...ARTIFACT)
    .option('--password <text>', 'the password that visitors must enter, with "password"')
    .addOption(new Option('--visitors <may>', 'what visitors of a public page may do with its data').choices(VISITORS))
    .addHelpText(
      'after',
      '\nExamples:\n  easel visibility public my-site\n  easel visibility public guest-book --visitors write\n  easel visibility public whiteboard --visitors collab\n  easel visibility private',
    )
    .action(async (who, artifact, options, command) => setVisibility(await open(command), who, artifact, options));
  addAnalyticsCommand(program, open);
}

function addKeeping(program: Command, open: OpenSession): void {
  program.commandsGroup('Keep and move');
  program
    .command('export')
    .summary('save files and data as a zip')
    .description('Writes a zip of the live files and the data.')
    .argument(...ARTIFACT)
    .option('-o, --output <file>', 'the file to write ("-": standard output; default: SLUG.easel.zip)')
    .option('--force', 'overwrite the file')
    .addHelpText('after', '\nExamples:\n  easel export my-site\n  easel export my-site -o backup.zip --force')
    .action(async (artifact, options, command) => exportZip(await open(command), artifact, options));
  program
    .command('import')
    .summary('publish an exported zip as a new artifact')
    .description('Publishes a zip made by "easel export" as a new artifact, data included.')
    .argument('<file>', 'the zip ("-": standard input)')
    .option('--slug <slug>', 'the name in the address')
    .option('--name <name>', 'a name for people')
    .addHelpText('after', '\nExample:\n  easel import my-site.easel.zip --slug my-copy')
    .action(async (file, options, command) => importZip(await open(command), file, options));
  program
    .command('delete')
    .summary('move an artifact to the trash')
    .description(`Moves an artifact to the trash, from which it can be restored for ${LIMITS.trashRetentionDays} days.`)
    .argument('<artifact>', 'slug, id or folder ("." for this one)')
    .addHelpText('after', '\nExample:\n  easel delete my-site')
    .action(async (artifact, _options, command) => remove(await open(command), artifact));
  program
    .command('restore')
    .summary('restore an artifact from the trash')
    .description('Restores an artifact from the trash.')
    .argument('<artifact>', 'slug, id or folder ("." for this one)')
    .addHelpText('after', '\nExamples:\n  easel ls --trash\n  easel restore my-site')
    .action(async (artifact, _options, command) => restore(await open(command), artifact));
}

export function addArtifactCommands(program: Command, open: OpenSession): void {
  addSeeing(program, open);
  addKeeping(program, open);
}
