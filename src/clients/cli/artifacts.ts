/** ls, open, visibility, delete, restore, export, import. */
import { readFile, writeFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { LIMITS } from '../../../protocol/limits.ts';
import { visibility as visibilities } from '../../../protocol/schemas/artifact.ts';
import { artifactIdOf } from './artifact-name.ts';
import { openBrowser } from './browser.ts';
import { CliFailure } from './failures.ts';
import { collect, limitOption } from './paging.ts';
import { previewLink } from './preview.ts';
import type { OpenSession, Session } from './session.ts';
import { EXPORT_SUFFIX } from './source.ts';
import { readBytes } from './standard-input.ts';
import { bytesText, tableText, timeText } from './text.ts';

async function list(session: Session, options: { limit: number; trash?: boolean; favorites?: boolean }): Promise<void> {
  const { signal } = session.shell;
  const { items: artifacts, hasMore } = await collect(options.limit, async (query) => {
    const { body } = options.trash
      ? await session.api.call('artifacts.listDeleted', { query, signal })
      : await session.api.call('artifacts.list', { query: { ...query, favorites: options.favorites ?? false }, signal });
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
  const empty = options.trash ? 'The trash is empty.' : 'Nothing published yet. Begin with: easel publish my-folder';
  const text = rows.length === 0 ? empty : tableText(head, rows);
  session.answer({ artifacts, has_more: hasMore }, text);
  if (hasMore) session.remark(`There are more: easel ls --limit ${options.limit * 2}`);
}

async function newestVersionId(session: Session, artifactId: string): Promise<string> {
  const { signal } = session.shell;
  const [newest] = (await session.api.call('versions.list', { params: { id: artifactId }, query: { limit: 1 }, signal })).body.versions;
  if (newest) return newest.id;
  throw new CliFailure('missing', 'NO_VERSION', 'Nothing was published there yet.', 'Publish a version first.');
}

async function openArtifact(session: Session, name: string | undefined, options: { print?: boolean }): Promise<void> {
  const id = await artifactIdOf(session, name);
  const artifact = (await session.api.call('artifacts.get', { params: { id }, signal: session.shell.signal })).body;
  const openToAll = artifact.visibility === 'public' && artifact.live_version_id !== null;
  const preview = openToAll ? undefined : await previewLink(session, id, artifact.live_version_id ?? (await newestVersionId(session, id)));
  const { slug, url, visibility } = artifact;
  const document = { artifact_id: id, slug, url, visibility, preview_url: preview?.url, preview_expires_at: preview?.expires_at };
  const address = preview?.url ?? url;
  session.answer(document, address);
  if (preview) session.remark(`The page is ${artifact.visibility}; this link shows it until ${timeText(preview.expires_at)}.`);
  if (!session.json && !options.print) await openBrowser(address, session.shell.env);
}

const VISITORS = ['read', 'write', 'collab'] as const;

interface VisibilityOptions {
  readonly password?: string;
  /** Each may what those before it may. */
  readonly visitors?: (typeof VISITORS)[number];
}

async function setVisibility(session: Session, who: string, name: string | undefined, options: VisibilityOptions): Promise<void> {
  const visibility = visibilities.safeParse(who);
  if (!visibility.success) {
    throw new CliFailure('usage', 'INVALID_VISIBILITY', `There is no visibility "${who}".`, `Choose ${visibilities.options.join(', ')}.`);
  }
  const id = await artifactIdOf(session, name);
  const reply = await session.api.call('artifacts.update', {
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
  // The service applies what else was asked and answers 202; what was asked first was not done, and a script must see that.
  if (reply.status === 202) {
    const notice = 'notice' in reply.body ? reply.body.notice : undefined;
    throw new CliFailure('access', 'VISIBILITY_HELD', notice ?? `The page may not be ${who} yet.`, `It stays ${reply.body.visibility}.`);
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
  const gone = (await session.api.call('artifacts.delete', { params: { id }, signal: session.shell.signal })).body;
  session.answer(gone, `Moved to the trash until ${timeText(gone.recoverable_until)}. To bring it back: easel restore ${id}`);
}

async function restore(session: Session, name: string): Promise<void> {
  const id = await artifactIdOf(session, name, true);
  const artifact = (await session.api.call('artifacts.restore', { params: { id }, signal: session.shell.signal })).body;
  session.answer(artifact, `Restored ${artifact.slug}: ${artifact.url}`);
}

async function exportZip(session: Session, name: string | undefined, options: { output?: string; force?: boolean }): Promise<void> {
  const { signal, stdout } = session.shell;
  const id = await artifactIdOf(session, name);
  if (options.output === '-' && session.json)
    throw new CliFailure('usage', 'INVALID_USAGE', 'With --json the zip cannot go to standard output.');
  const file = options.output ?? `${(await session.api.call('artifacts.get', { params: { id }, signal })).body.slug}${EXPORT_SUFFIX}`;
  const zip = (await session.api.call('artifacts.export', { params: { id }, signal })).body;
  if (file === '-') {
    stdout.write(zip);
    return;
  }
  await writeFile(file, zip, { flag: options.force ? 'w' : 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST')
      throw new CliFailure('conflict', 'FILE_EXISTS', `${file} is there already.`, 'Name another with -o, or add --force.');
    throw error;
  });
  session.answer({ artifact_id: id, file, bytes: zip.length }, `Wrote ${file}, ${bytesText(zip.length)}.`);
}

async function importZip(session: Session, file: string, options: { slug?: string; name?: string }): Promise<void> {
  const bytes =
    file === '-'
      ? await readBytes(session.shell.stdin)
      : await readFile(file).catch((error: NodeJS.ErrnoException) => {
          throw error.code === 'ENOENT' ? new CliFailure('usage', 'NO_SUCH_FILE', `There is no file "${file}".`) : error;
        });
  const query = { slug: options.slug, name: options.name };
  const made = (await session.api.call('artifacts.import', { query, body: bytes, signal: session.shell.signal })).body;
  const text = `Imported as ${made.deployment.slug}: ${made.deployment.url}${made.notice ? `\n${made.notice}` : ''}\nTo see it: easel open ${made.deployment.slug}`;
  session.answer(made, text);
}

const ARTIFACT = ['[artifact]', 'slug, id or folder (default: what this folder was published as)'] as const;

function addSeeing(program: Command, open: OpenSession): void {
  program.commandsGroup('Publish and see');
  program
    .command('ls')
    .summary('list what you have published')
    .description('Lists your artifacts, last changed first.')
    .option('--favorites', 'only favourites')
    .addOption(new Option('--trash', 'what was deleted and can be restored').conflicts('favorites'))
    .addOption(limitOption())
    .addHelpText('after', '\nExamples:\n  easel ls\n  easel ls --trash\n  easel ls --json --limit 1000')
    .action(async (options, command) => list(await open(command), options));
  program
    .command('open')
    .summary('see a page in the browser')
    .description('Prints the address and opens it in a browser where there is one. A page that is not public gets a preview link.')
    .argument(...ARTIFACT)
    .option('--print', 'only print the address')
    .addHelpText('after', '\nExamples:\n  easel open\n  easel open my-site\n  easel open my-folder --print')
    .action(async (artifact, options, command) => openArtifact(await open(command), artifact, options));
  program
    .command('visibility')
    .summary('choose who sees a page')
    .description('Sets who sees the page: private, workspace, public or password.')
    .argument('<who>', visibilities.options.join(', '))
    .argument(...ARTIFACT)
    .option('--password <text>', 'what visitors must enter, with "password"')
    .addOption(new Option('--visitors <may>', 'what visitors of a public page may do with its data').choices(VISITORS))
    .addHelpText(
      'after',
      '\nExamples:\n  easel visibility public my-site\n  easel visibility public guest-book --visitors write\n  easel visibility public whiteboard --visitors collab\n  easel visibility private',
    )
    .action(async (who, artifact, options, command) => setVisibility(await open(command), who, artifact, options));
}

function addKeeping(program: Command, open: OpenSession): void {
  program.commandsGroup('Keep and move');
  program
    .command('export')
    .summary('save files and data as a zip')
    .description('Writes a zip of the live files and the data.')
    .argument(...ARTIFACT)
    .option('-o, --output <file>', 'where to ("-": standard output; default: SLUG.easel.zip)')
    .option('--force', 'overwrite the file')
    .addHelpText('after', '\nExamples:\n  easel export my-site\n  easel export my-site -o backup.zip --force')
    .action(async (artifact, options, command) => exportZip(await open(command), artifact, options));
  program
    .command('import')
    .summary('publish such a zip as a new artifact')
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
    .summary('take it out of the trash')
    .description('Takes an artifact out of the trash.')
    .argument('<artifact>', 'slug, id or folder ("." for this one)')
    .addHelpText('after', '\nExamples:\n  easel ls --trash\n  easel restore my-site')
    .action(async (artifact, _options, command) => restore(await open(command), artifact));
}

export function addArtifactCommands(program: Command, open: OpenSession): void {
  addSeeing(program, open);
  addKeeping(program, open);
}
