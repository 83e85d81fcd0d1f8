/** publish: sends a folder or a page as a new version; only what the service does not hold yet travels. */
import { type Command, Option } from 'commander';
import { LIMITS } from '../../../protocol/limits.ts';
import { type Visibility, visibility as visibilities } from '../../../protocol/schemas/artifact.ts';
import { ApiError } from '../sdk.ts';
import { artifactIdOf } from './artifact-name.ts';
import { openBrowser } from './browser.ts';
import { CliFailure } from './failures.ts';
import { inParallel } from './in-parallel.ts';
import { previewLink } from './preview.ts';
import { startProgress } from './progress.ts';
import { type Publication, publicationsIn, rememberPublication } from './publications.ts';
import type { OpenSession, Session } from './session.ts';
import { type DigestedFile, digestAll, entrypointOf, readDigested, readSource, type Source } from './source.ts';
import { bytesText, countText, timeText } from './text.ts';

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
  readonly new?: boolean;
  readonly entry?: string;
  readonly open?: boolean;
}

async function send(session: Session, uploadId: string, file: DigestedFile): Promise<void> {
  const { bytes, sha256 } = await readDigested(file);
  if (sha256 !== file.sha256) {
    throw new CliFailure('conflict', 'FILE_CHANGED', `${file.path} was changed while it was published.`, 'Publish again.');
  }
  await session.api.call('publish.upload', { params: { upload_id: uploadId, sha256 }, body: bytes, signal: session.shell.signal });
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

/** The artifact to push to, undefined for the one with that slug or a new one. `known` is what `.easel.json` remembers. */
async function targetOf(session: Session, known: Publication | undefined, options: PublishOptions): Promise<string | undefined> {
  if (options.artifact !== undefined) return artifactIdOf(session, options.artifact);
  // Another slug than the remembered one means another artifact: the one that holds it, or a new one.
  const other = options.new || (options.slug !== undefined && options.slug !== known?.slug);
  return other ? undefined : known?.artifact_id;
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
    name: options.name ?? (artifactId === undefined && options.slug === undefined ? source.name.slice(0, LIMITS.nameCharsMax) : undefined),
    // A remembered artifact may have got another slug since: it is named by its id alone.
    slug: remembered ? undefined : options.slug,
    artifact_id: artifactId,
    files_digest: files.map(({ path, sha256 }) => ({ path, sha256 })),
  };
  const { signal } = session.shell;
  const begun = await session.api.call('publish.publish', { body, signal }).catch((error: unknown) => {
    throw remembered && error instanceof ApiError && error.code === 'ARTIFACT_NOT_FOUND' ? lostArtifact(source, artifactId) : error;
  });
  if (!('missing' in begun.body)) return { published: begun.body, sent: [] };
  const { missing, upload_id } = begun.body;
  const byDigest = new Map(files.map((file) => [file.sha256, file]));
  const sent = missing.map((digest) => byDigest.get(digest)).filter((file) => file !== undefined);
  await sendAll(session, upload_id, sent);
  const ended = await session.api.call('publish.publish', { body: { ...body, upload_id }, signal });
  if (!('missing' in ended.body)) return { published: ended.body, sent };
  throw new CliFailure('unexpected', 'UPLOAD_INCOMPLETE', 'The service asks for the same files once more.', 'Publish again.');
}

function lostArtifact(source: Source, artifactId: string | undefined): CliFailure {
  return new CliFailure(
    'missing',
    'ARTIFACT_NOT_FOUND',
    `${source.key === '.' ? source.folder : source.key} was published as ${artifactId}, which is deleted or belongs to another account.`,
    `Publish it as a new one with --new, or bring it back with "easel restore ${artifactId}".`,
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
  await rememberPublication(source.folder, {
    server: session.url,
    source: source.key,
    artifact_id: artifactId,
    slug: published.deployment.slug,
    entry,
  });
  const artifact = (await session.api.call('artifacts.get', { params: { id: artifactId }, signal })).body;
  const isLive = artifact.live_version_id === published.version.id;
  const openToAll = artifact.visibility === 'public' && isLive;
  const preview = openToAll ? undefined : await previewLink(session, artifactId, published.version.id);
  const document = {
    artifact_id: artifactId,
    slug: published.deployment.slug,
    url: published.deployment.url,
    version_id: published.version.id,
    version_no: published.version.version_no,
    live: isLive,
    visibility: artifact.visibility,
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
  if (options.open && !(await openBrowser(preview?.url ?? document.url, session.shell.env))) session.remark('No browser found here.');
}

interface Published {
  readonly slug: string;
  readonly url: string;
  readonly version_no: number;
  readonly live: boolean;
  readonly visibility: string;
  readonly notice?: string | undefined;
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
  if (done.notice) lines.push(done.notice);
  if (!done.live && !draft) lines.push('Another version is pinned and stays live: "easel unpin" follows the newest again.');
  if (done.preview_url) {
    const why = done.live ? `The page is ${done.visibility}` : 'This version is not live';
    const until = done.preview_expires_at ? `, until ${timeText(done.preview_expires_at)}` : '';
    lines.push(`${why}. Whoever has this link sees it${until}:`, `  ${session.bold(done.preview_url)}`);
  }
  return lines.join('\n');
}

const EXAMPLES = `
Left out: dot-files, node_modules, exports (*.easel.zip), symbolic links, and what a .easelignore file in the
folder names (rules as in .gitignore; "!.well-known" takes a dot-folder in again). Which artifact it became is remembered in the folder's .easel.json,
so that publishing again pushes a new version. Limits: 1000 files, 25 MB a file, 100 MB together.

Examples:
  easel publish                          the current folder
  easel publish my-site --slug my-site   choose the address
  easel publish report.html              a single page
  easel publish my-site --draft          a version that is not live yet
  easel publish dist --artifact my-site  push to an artifact that you have`;

export function addPublishCommand(program: Command, open: OpenSession): void {
  program.commandsGroup('Publish and see');
  program
    .command('publish')
    .summary('put a folder or a page online; again: a new version')
    .description('Publishes a folder or a single .html file. Only files that the service does not hold yet are sent.')
    .argument('[folder]', 'folder or .html file', '.')
    .option('--slug <slug>', 'the name in the address')
    .option('--name <name>', 'a name for people')
    .addOption(new Option('--visibility <who>', 'who sees it').choices(visibilities.options))
    .option('--password <text>', 'what visitors must enter, with --visibility password')
    .option('--draft', 'keep the live version live')
    .option('--label <text>', 'a label for this version')
    .option('--note <text>', 'a note for this version')
    .option('--entry <file>', 'the page that opens first (default: index.html)')
    .option('--artifact <id|slug>', 'push to this artifact')
    .option('--new', 'make a new artifact although the folder was published before')
    .option('--open', 'open it in the browser')
    .addHelpText('after', EXAMPLES)
    .action(async (folder, options, command) => publish(await open(command), folder, options));
}
