/** folders: list, create, show, update, delete; move. */
import { type Command, Option } from 'commander';
import { folderVisibility } from '../../../protocol/workspaces/folders.ts';
import { artifactIdOf } from './artifact-name.ts';
import { CliFailure } from './failures.ts';
import { folderIdOf, pathsOf, workspaceOption } from './folder-name.ts';
import type { OpenSession, Session } from './session.ts';
import { countText, tableText } from './text.ts';

type FolderVisibility = (typeof folderVisibility.options)[number];

interface Where {
  readonly workspace?: string;
}

interface Fields {
  readonly name?: string;
  readonly slug?: string;
  readonly description?: string;
  readonly visibility?: FolderVisibility;
}

/** A folder of either kind; only those of workspaces have a visibility. */
interface Shown {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly parent_id: string | null;
  readonly artifact_count: number;
  readonly visibility?: FolderVisibility;
}

/** `/` is the top: of a workspace, or of the caller's own folders. */
const TOP = '/';

async function list(session: Session, { workspace }: Where): Promise<void> {
  const { signal } = session.shell;
  const found =
    workspace === undefined
      ? (await session.api.personalFolders.list({ signal })).body
      : (await session.api.folders.list({ params: { workspaceId: workspace }, query: { all: '1' }, signal })).body;
  const folders: readonly Shown[] = found.folders;
  const paths = pathsOf(folders);
  const rows = folders
    .map((folder) => [paths.get(folder.id) ?? folder.slug, folder.visibility ?? 'private', String(folder.artifact_count), folder.name])
    .sort(([a = ''], [b = '']) => (a < b ? -1 : 1));
  const where = workspace === undefined ? '' : ` -w ${workspace}`;
  const empty = `No folders yet. Begin with: easel folders create "Reports"${where}`;
  session.answer(found, rows.length === 0 ? empty : tableText(['FOLDER', 'WHO', 'ARTIFACTS', 'NAME'], rows));
}

/** Personal folders have no visibility: only their owner sees them. */
function requireShared({ workspace }: Where, visibility: FolderVisibility | undefined): void {
  if (workspace !== undefined || visibility === undefined) return;
  throw new CliFailure('usage', 'INVALID_USAGE', 'Only you see a personal folder.', 'Leave --visibility out, or name a --workspace.');
}

async function parentId(session: Session, name: string | undefined, workspace: string | undefined): Promise<string | null | undefined> {
  if (name === undefined) return undefined;
  return name === TOP ? null : folderIdOf(session, name, workspace);
}

async function create(session: Session, name: string, options: Where & Fields & { in?: string }): Promise<void> {
  const { workspace, visibility, slug, description } = options;
  requireShared(options, visibility);
  const { signal } = session.shell;
  const body = { name, slug, description, parent_id: await parentId(session, options.in, workspace) };
  const made =
    workspace === undefined
      ? (await session.api.personalFolders.create({ body, signal })).body
      : (await session.api.folders.create({ params: { workspaceId: workspace }, body: { ...body, visibility }, signal })).body;
  const next = `Next: easel publish --folder ${made.path}${workspace === undefined ? '' : ` -w ${workspace}`}`;
  session.answer(made, `Made the folder ${made.path}.\n${next}`);
}

async function show(session: Session, name: string, { workspace }: Where): Promise<void> {
  const { signal } = session.shell;
  const folderId = await folderIdOf(session, name, workspace);
  const folder =
    workspace === undefined
      ? (await session.api.personalFolders.get({ params: { folderId }, signal })).body
      : (await session.api.folders.get({ params: { workspaceId: workspace, folderId }, signal })).body;
  const who = 'effective_visibility' in folder ? folder.effective_visibility : 'private';
  const inside = `${countText(folder.artifact_count, 'artifact')}, ${countText(folder.subfolder_count, 'folder')}`;
  const lines = [`${folder.name} (${folder.path}), ${who}: ${inside}.`, folder.description, folder.readme];
  session.answer(folder, lines.filter((line) => line !== null).join('\n'));
}

async function update(session: Session, folder: string, options: Where & Fields & { to?: string }): Promise<void> {
  const { workspace, visibility, name, slug, description } = options;
  requireShared(options, visibility);
  const { signal } = session.shell;
  const folderId = await folderIdOf(session, folder, workspace);
  const body = { name, slug, description, parent_id: await parentId(session, options.to, workspace) };
  const changed =
    workspace === undefined
      ? (await session.api.personalFolders.update({ params: { folderId }, body, signal })).body
      : (await session.api.folders.update({ params: { workspaceId: workspace, folderId }, body: { ...body, visibility }, signal })).body;
  session.answer(changed, `Changed ${changed.path}.`);
}

async function remove(session: Session, name: string, { workspace }: Where): Promise<void> {
  const { signal } = session.shell;
  const folderId = await folderIdOf(session, name, workspace);
  const gone =
    workspace === undefined
      ? (await session.api.personalFolders.delete({ params: { folderId }, signal })).body
      : (await session.api.folders.delete({ params: { workspaceId: workspace, folderId }, signal })).body;
  const kept = `${countText(gone.artifacts_unfiled, 'artifact')} unfiled, ${countText(gone.subfolders_moved, 'folder')} moved up`;
  session.answer(gone, `Deleted ${name}: ${kept}.`);
}

async function move(session: Session, folder: string, artifact: string | undefined): Promise<void> {
  const { signal } = session.shell;
  const id = await artifactIdOf(session, artifact);
  const { slug, workspace_id } = (await session.api.artifacts.get({ params: { id }, signal })).body;
  const folder_id = folder === TOP ? null : await folderIdOf(session, folder, workspace_id ?? undefined);
  const done =
    workspace_id === null
      ? (await session.api.personalFolders.file({ params: { id }, body: { folder_id }, signal })).body
      : (await session.api.folders.move({ params: { workspaceId: workspace_id, artifactId: id }, body: { folder_id }, signal })).body;
  session.answer(done, folder_id === null ? `${slug} is in no folder.` : `${slug} is in ${folder}.`);
}

const FOLDER = ['<folder>', 'path, for example reports/2026, or id'] as const;
const visibilityOption = () => new Option('--visibility <who>', 'who sees it, in a workspace').choices(folderVisibility.options);

function addReading(group: Command, open: OpenSession): void {
  group
    .command('list')
    .summary('list folders')
    .description('Lists your personal folders, or those of a workspace that you see, with their paths.')
    .addOption(workspaceOption())
    .addHelpText('after', '\nExamples:\n  easel folders list\n  easel folders list -w maps')
    .action(async (options, command) => list(await open(command), options));
  group
    .command('show')
    .summary('show a folder')
    .description('Shows a folder, who sees it, and its readme.')
    .argument(...FOLDER)
    .addOption(workspaceOption())
    .addHelpText('after', '\nExample:\n  easel folders show reports/2026 -w maps')
    .action(async (folder, options, command) => show(await open(command), folder, options));
}

function addChanging(group: Command, open: OpenSession): void {
  group
    .command('create')
    .summary('make a folder')
    .description('Makes a personal folder, or a folder of a workspace.')
    .argument('<name>', 'a name for people')
    .addOption(workspaceOption())
    .option('--in <folder>', 'the folder above it')
    .option('--slug <slug>', 'its part of the path (default: made from the name)')
    .option('--description <text>', 'what it is for')
    .addOption(visibilityOption())
    .addHelpText(
      'after',
      '\nExamples:\n  easel folders create "Reports"\n  easel folders create "2026" --in reports -w maps --visibility private',
    )
    .action(async (name, options, command) => create(await open(command), name, options));
  group
    .command('update')
    .summary('rename a folder, move it or change who sees it')
    .description('Changes a folder. A workspace folder: its maker, and owners and admins of the workspace may.')
    .argument(...FOLDER)
    .addOption(workspaceOption())
    .option('--name <name>', 'a name for people')
    .option('--slug <slug>', 'its part of the path')
    .option('--description <text>', 'what it is for')
    .option('--to <folder>', 'move it into this folder ("/": to the top)')
    .addOption(visibilityOption())
    .addHelpText(
      'after',
      '\nExamples:\n  easel folders update reports --name "All reports"\n  easel folders update 2026 --to reports -w maps',
    )
    .action(async (folder, options, command) => update(await open(command), folder, options));
  group
    .command('delete')
    .summary('delete a folder; what is in it stays')
    .description('Deletes a folder. Its artifacts are then in no folder, and its folders move up.')
    .argument(...FOLDER)
    .addOption(workspaceOption())
    .addHelpText('after', '\nExample:\n  easel folders delete reports/2026 -w maps')
    .action(async (folder, options, command) => remove(await open(command), folder, options));
}

export function addFolderCommands(program: Command, open: OpenSession): void {
  program.commandsGroup('Workspaces');
  const group = program
    .command('folders')
    .summary('personal folders and those of workspaces')
    .description('Lists, makes and changes folders.');
  addReading(group, open);
  addChanging(group, open);
  program
    .command('move')
    .summary('file an artifact in a folder')
    .description('Files an artifact in a personal folder or, if it belongs to a workspace, in a folder of that workspace.')
    .argument('<folder>', 'path or id ("/": in no folder)')
    .argument('[artifact]', 'slug, id or folder (default: the artifact of this folder)')
    .addHelpText('after', '\nExamples:\n  easel move reports/2026 my-site\n  easel move / my-site')
    .action(async (folder, artifact, _options, command) => move(await open(command), folder, artifact));
}
