/** publish: sends a folder or a page as a new version. Only files that the server does not have yet are uploaded. */
import { type Command, Option } from 'commander';
import { type Visibility, visibility as visibilities } from '../../../protocol/artifacts/artifacts.ts';
import { LIMITS } from '../../../protocol/core/limits.ts';
import { ApiError } from '../sdk/client.ts';
import { artifactIdOf } from './artifact-name.ts';
import { openBrowser } from './browser.ts';
import { CliFailure } from './failures.ts';
import { folderIdOf, workspaceOption } from './folder-name.ts';
import { inParallel } from './in-parallel.ts';
import { previewLink } from './preview.ts';
import { startProgress } from './progress.ts';
import { type Publication, publicationsIn, rememberPublication } from './publications.ts';
import type { OpenSession, Session } from './session.ts';
import { type DigestedFile, digestAll, entrypointOf, readDigested, readSource, type Source } from './source.ts';
import { bytesText, countText, seenBy, timeText } from './text.ts';

const SENDERS = 6;

interface PublishOptions {
  readonly slug?: string;
  readonly name?: string;
  readonly visibility?: Visibility;
  readonly password?: string;
  readonly draft?: boolean;
  readonly label?: string;
  readonly note?: string;
  readonly artifact?: string;
  readonly workspace?: string;
  readonly folder?: string;
  readonly new?: boolean;
  readonly entry?: string;
  readonly open?: boolean;
}

async function send(session: Session, uploadId: string, file: DigestedFile): Promise<void> {
  const { bytes, sha256 } = await readDigested(file);
  if (sha256 !== file.sha256) {
    throw new CliFailure('conflict', 'FILE_CHANGED', `${file.path} changed during the upload.`, 'Publish again.');
  }
  await session.api.publish.upload({ params: { upload_id: uploadId, sha256 }, body: bytes, signal: session.shell.signal });
}

async function sendAll(session: Session, uploadId: string, files: readonly DigestedFile[]): Promise<void> {
  const progress = startProgress(
    session,
    files.length,
    files.reduce((sum, file) => sum + file.sizeBytes, 0),
  );
  try {
    await inParallel(files, SENDERS, async (file) => {
      await send(session, uploadId, file);
      progress.sent(file.sizeBytes);
    });
  } finally {
    progress.end();
  }
}

/** The artifact to publish to; undefined for the one with the given slug or a new one. `known` comes from `.easel.json`. */
async function targetOf(session: Session, known: Publication | undefined, options: PublishOptions): Promise<string | undefined> {
  if (options.artifact !== undefined) return artifactIdOf(session, options.artifact);
  // --slug names the artifact that has this slug now, or a new one; the remembered artifact may have another slug since.
  return options.new || options.slug !== undefined ? undefined : known?.artifact_id;
}

/** The folder that `--folder` names: in the workspace of `--workspace` or of the artifact that is published to, else a personal one. */
async function folderFor(session: Session, artifactId: string | undefined, options: PublishOptions): Promise<string | undefined> {
  if (options.folder === undefined) return undefined;
  const known = options.workspace === undefined && artifactId !== undefined;
  const home = known
    ? (await session.api.artifacts.get({ params: { id: artifactId }, signal: session.shell.signal })).body.workspace_id
    : null;
  return folderIdOf(session, options.folder, options.workspace ?? home ?? undefined);
}

interface Cargo {
  readonly source: Source;
  readonly entrypoint: string;
  readonly files: readonly DigestedFile[];
  readonly known: Publication | undefined;
}

async function push(session: Session, { source, entrypoint, files, known }: Cargo, options: PublishOptions) {
  const artifactId = await targetOf(session, known, options);
  const remembered = artifactId !== undefined && options.artifact === undefined;
  const body = {
    entrypoint,
    draft: options.draft ?? false,
    visibility: options.visibility,
    password: options.password,
    label: options.label,
    note: options.note,
    name:
      options.name ??
      (artifactId === undefined && options.slug === undefined ? [...source.name].slice(0, LIMITS.nameCharsMax).join('') : undefined),
    slug: options.slug,
    artifact_id: artifactId,
    workspace_id: options.workspace,
    folder_id: await folderFor(session, artifactId, options),
    files_digest: files.map(({ path, sha256 }) => ({ path, sha256 })),
  };
  const { signal } = session.shell;
  const begun = await session.api.publish.publish({ body, signal }).catch((error: unknown) => {
    throw remembered && error instanceof ApiError && error.code === 'ARTIFACT_NOT_FOUND' ? lostArtifact(source, artifactId) : error;
  });
  if (!('missing' in begun.body)) return { published: begun.body, sent: [] };
  const { missing, upload_id } = begun.body;
  const byDigest = new Map(files.map((file) => [file.sha256, file]));
  const sent = missing.map((digest) => byDigest.get(digest)).filter((file) => file !== undefined);
  await sendAll(session, upload_id, sent);
  const ended = await session.api.publish.publish({ body: { ...body, upload_id }, signal });
  if (!('missing' in ended.body)) return { published: ended.body, sent };
  throw new CliFailure('unexpected', 'UPLOAD_INCOMPLETE', 'The server did not accept all uploaded files.', 'Publish again.');
}

function lostArtifact(source: Source, artifactId: string | undefined): CliFailure {
  return new CliFailure(
    'missing',
    'ARTIFACT_NOT_FOUND',
    `${source.key === '.' ? source.folder : source.key} was published as ${artifactId}, which is deleted or belongs to another account.`,
    `Publish it as a new one with --new, or restore it with "easel restore ${artifactId}".`,
  );
}

async function publish(session: Session, target: string, options: PublishOptions): Promise<void> {
  const { signal } = session.shell;
  const source = await readSource(target);
  const known = (await publicationsIn(source.folder, session.url)).find((entry) => entry.source === source.key);
  const entry = options.entry ?? known?.entry;
  const entrypoint = entrypointOf(source, entry);
  if (source.linksSkipped > 0) session.remark(`Left out ${countText(source.linksSkipped, 'symbolic link')}.`);
  const files = await digestAll(source.files, signal);
  const { published, sent } = await push(session, { source, entrypoint, files, known }, options);
  const artifactId = published.artifact.id;
  if (known !== undefined && known.artifact_id !== artifactId) {
    const what = source.key === '.' ? 'This folder' : source.key;
    session.remark(
      `${what} now belongs to ${published.deployment.slug}. Before, it belonged to ${known.slug} (${known.artifact_id}), which is unchanged.`,
    );
  }
  await rememberPublication(source.folder, {
    server: session.url,
    source: source.key,
    artifact_id: artifactId,
    slug: published.deployment.slug,
    entry,
  });
  const artifact = (await session.api.artifacts.get({ params: { id: artifactId }, signal })).body;
  const isLive = artifact.live_version_id === published.version.id;
  const openToAll = artifact.visibility === 'public' && isLive;
  // A version that waits for approval is shown only to those who may approve it.
  const preview = openToAll || published.held !== undefined ? undefined : await previewLink(session, artifactId, published.version.id);
  const document = {
    artifact_id: artifactId,
    slug: published.deployment.slug,
    url: published.deployment.url,
    version_id: published.version.id,
    version_no: published.version.version_no,
    live: isLive,
    visibility: artifact.visibility,
    held: published.held,
    code: published.code,
    notice: published.notice,
    requested_visibility: published.requested_visibility,
    preview_url: preview?.url,
    preview_expires_at: preview?.expires_at,
    files: files.length,
    bytes: files.reduce((sum, file) => sum + file.sizeBytes, 0),
    sent: sent.length,
    sent_bytes: sent.reduce((sum, file) => sum + file.sizeBytes, 0),
  };
  session.answer(document, publishedText(session, document, options.draft ?? false));
  const address = preview?.url ?? document.url;
  if (options.open && !(await openBrowser(address, session.shell.env))) session.remark('No browser found here.');
  // Thrown after the result is printed: the version exists, but without the requested visibility.
  if (published.code === 'VISIBILITY_HELD') throw heldBack(document, published.requested_visibility, published.notice);
}

function heldBack(done: Published, asked: string | undefined, notice: string | undefined): CliFailure {
  const words = `Version ${done.version_no} is published, but ${done.slug} stays ${done.visibility}${asked === undefined ? '' : ` and is not ${asked}`}.`;
  return new CliFailure('held', 'VISIBILITY_HELD', words, notice);
}

interface Published {
  readonly slug: string;
  readonly url: string;
  readonly version_no: number;
  readonly live: boolean;
  readonly held?: string | undefined;
  readonly notice?: string | undefined;
  readonly visibility: string;
  readonly preview_url?: string | undefined;
  readonly preview_expires_at?: string | undefined;
  readonly files: number;
  readonly bytes: number;
  readonly sent: number;
}

function publishedText(session: Session, done: Published, draft: boolean): string {
  const lines = [
    `Published ${done.slug}, version ${done.version_no}${draft ? ' (draft)' : ''}: ${countText(done.files, 'file')}, ${bytesText(done.bytes)}, ${done.sent} sent.`,
    `  ${session.bold(done.url)}`,
  ];
  if (done.held !== undefined) lines.push(done.notice ?? 'The version waits for approval and is not live yet.');
  else if (!done.live && !draft) lines.push('Another version is pinned and stays live. To follow the newest version again: easel unpin');
  if (done.preview_url) {
    const why = done.live ? seenBy(done.visibility) : 'This version is not live';
    const until = done.preview_expires_at ? `, until ${timeText(done.preview_expires_at)}` : '';
    lines.push(`${why}. Anyone with this link can see it${until}:`, `  ${session.bold(done.preview_url)}`);
  }
  return lines.join('\n');
}

const EXAMPLES = `
Excluded: dot-files, node_modules, exports (*.easel.zip), symbolic links, and the files listed in .easelignore in the
folder (same rules as .gitignore; "!.well-known" includes a dot-folder again). The file .easel.json in the folder
remembers the artifact, so that the next publish makes a new version of it. Limits: 1000 files, 25 MB per file,
100 MB in total.

Examples:
  easel publish                          the current folder
  easel publish my-site --slug my-site   choose the address
  easel publish report.html              a single page
  easel publish my-site --draft          a version that is not live yet
  easel publish dist --artifact my-site  push to an artifact that you have
  easel publish -w maps --folder reports into a folder of a workspace

An interrupted publish goes on where it stopped when it is run again within an hour: what has arrived is not sent again.
Where --visibility is held, the version is published all the same, and the exit code is 8.`;

export function addPublishCommand(program: Command, open: OpenSession): void {
  program.commandsGroup('Publish and see');
  program
    .command('publish')
    .summary('publish a folder or a page; again: as a new version')
    .description('Publishes a folder or a single .html file. Only files that the server does not have yet are uploaded.')
    .argument('[folder]', 'folder or .html file', '.')
    .option('--slug <slug>', 'the name in the address; publishes to your artifact with this slug, or to a new one')
    .option('--name <name>', 'a name for people')
    .addOption(new Option('--visibility <who>', 'who sees it').choices(visibilities.options))
    .option('--password <text>', 'the password that visitors must enter, with --visibility password')
    .option('--draft', 'do not make this version live')
    .option('--label <text>', 'a label for this version')
    .option('--note <text>', 'a note for this version')
    .option('--entry <file>', 'the page shown first (default: index.html)')
    .option('--artifact <id|slug>', 'push to this artifact')
    .addOption(workspaceOption())
    .option('--folder <folder>', 'path or id of the folder to file it in')
    .option('--new', 'make a new artifact even if the folder was published before')
    .option('--open', 'open it in the browser')
    .addHelpText('after', EXAMPLES)
    .action(async (folder, options, command) => publish(await open(command), folder, options));
}
