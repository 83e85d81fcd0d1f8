/** assets: list, upload, version, versions, link, links, revoke, download, rm, collections: the files of one's own library, or of a workspace's. */
import { writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { type Command, Option } from 'commander';
import { addCollectionCommands } from './asset-collections.ts';
import { libraryOf } from './asset-library.ts';
import { storeAsset } from './asset-upload.ts';
import { CliFailure } from './failures.ts';
import { fileFailure } from './given-files.ts';
import { collect, limitOption } from './paging.ts';
import type { OpenSession, Session } from './session.ts';
import { readText } from './standard-input.ts';
import { bytesText, tableText, timeText } from './text.ts';

interface In {
  readonly workspace?: string;
}

async function list(session: Session, options: In & { limit: number; collection?: string }): Promise<void> {
  const library = libraryOf(session, options.workspace);
  const within = options.collection === undefined ? {} : { collection: options.collection };
  let usedBytes = 0;
  const { items, hasMore } = await collect(options.limit, async (query) => {
    const { body } = await library.list({ ...query, ...within });
    usedBytes = body.usedBytes;
    const loose = body.loose.map((one) => ({ ...one, name: one.filename, versionNo: null }));
    return { items: [...body.deliverables, ...loose], next: body.nextCursor };
  });
  const rows = items.map((one) => [
    one.id,
    one.versionNo === null ? 'loose' : String(one.versionNo),
    bytesText(one.sizeBytes),
    one.mimeType,
    timeText(one.createdAt),
    one.name,
  ]);
  const empty = 'No files yet. Begin with: easel assets upload logo.png';
  const text = rows.length === 0 ? empty : tableText(['ID', 'VERSION', 'SIZE', 'TYPE', 'MADE', 'NAME'], rows);
  session.answer({ files: items, usedBytes, hasMore }, text);
  if (hasMore) session.remark(`There are more: easel assets list --limit ${options.limit * 2}`);
}

async function upload(session: Session, file: string, options: In & { name?: string; loose?: boolean }): Promise<void> {
  const library = libraryOf(session, options.workspace);
  const stored = await storeAsset(session, library, file);
  if (options.loose) return session.answer(stored, `Stored ${stored.filename} as ${stored.id}.`);
  const made = (await library.create({ blobId: stored.id, name: options.name })).body;
  session.answer(made, `Stored ${made.name} as ${made.id}.`);
}

async function version(session: Session, fileId: string, file: string, options: In): Promise<void> {
  const library = libraryOf(session, options.workspace);
  const { id: blobId } = await storeAsset(session, library, file);
  const made = (await library.addVersion(fileId, { blobId })).body;
  session.answer(made, `${made.name} has version ${made.versionNo} now.`);
}

async function versions(session: Session, fileId: string, options: In & { limit: number }): Promise<void> {
  const library = libraryOf(session, options.workspace);
  const { items, hasMore } = await collect(options.limit, async (query) => {
    const { body } = await library.versions(fileId, query);
    return { items: body.versions, next: body.nextCursor };
  });
  const rows = items.map((one) => [String(one.versionNo), bytesText(one.sizeBytes), timeText(one.createdAt), one.filename]);
  session.answer({ versions: items, hasMore }, tableText(['VERSION', 'SIZE', 'STORED', 'FILE'], rows));
}

type LinkOptions = In & { expires?: string; password?: boolean; domain?: string };

async function link(session: Session, fileId: string, { workspace, expires, password, domain }: LinkOptions): Promise<void> {
  if (password && domain !== undefined) {
    throw new CliFailure('usage', 'INVALID_USAGE', 'A link has one gate.', 'Give --password or --domain, not both.');
  }
  const library = libraryOf(session, workspace);
  const gate = password
    ? { gate: 'password' as const, password: (await readText(session.shell.stdin)).trim() }
    : domain === undefined
      ? {}
      : { gate: 'domain' as const, domain };
  const made = (await library.createLink(fileId, { ...gate, ...(expires !== undefined && { expiresAt: expires }) })).body;
  session.answer(made, `${made.url}\n${made.id}${made.expiresAt === null ? '' : `, until ${timeText(made.expiresAt)}`}`);
}

async function links(session: Session, fileId: string, options: In & { limit: number }): Promise<void> {
  const library = libraryOf(session, options.workspace);
  const { items, hasMore } = await collect(options.limit, async (query) => {
    const { body } = await library.links(fileId, query);
    return { items: body.links, next: body.nextCursor };
  });
  const rows = items.map((one) => [
    one.id,
    one.revokedAt === null ? (one.expiresAt === null ? 'open' : `until ${timeText(one.expiresAt)}`) : 'revoked',
    one.domain ?? one.gate,
    String(one.views),
    one.url,
  ]);
  const text = rows.length === 0 ? 'There are no links.' : tableText(['ID', 'STATE', 'GATE', 'VIEWS', 'URL'], rows);
  session.answer({ links: items, hasMore }, text);
}

async function revoke(session: Session, fileId: string, linkId: string, options: In): Promise<void> {
  const { body } = await libraryOf(session, options.workspace).revokeLink(fileId, linkId);
  session.answer(body, 'Revoked. It opens nothing any more.');
}

async function download(session: Session, fileId: string, options: { output?: string; at?: string }): Promise<void> {
  const query = options.at === undefined ? {} : { version: Number(options.at) };
  const { body, headers } = await session.api.files.content({ params: { fileId }, query, signal: session.shell.signal });
  const named = /filename="([^"]*)"/.exec(headers.get('content-disposition') ?? '')?.[1];
  // Only the last part: a name of somebody else leads to no other folder.
  const output = options.output ?? (basename(named ?? '') || fileId);
  await writeFile(output, body, { flag: options.output === undefined ? 'wx' : 'w' }).catch((error: unknown) => {
    throw fileFailure(error, 'written', output);
  });
  session.answer({ id: fileId, file: output, bytes: body.byteLength }, `Written to ${output}.`);
}

async function remove(session: Session, fileId: string, options: In): Promise<void> {
  const library = libraryOf(session, options.workspace);
  const { body } = fileId.startsWith('blob_') ? await library.removeLoose(fileId) : await library.remove(fileId);
  session.answer(body, 'Deleted.');
}

const FILE = ['<id>', 'as "easel assets list" shows it'] as const;
const EXAMPLE = 'dlv_h6b2crpyfk3vq7m2xw5tz4nd';
const example = (line: string) => `\nExample:\n  easel assets ${line}`;
const workspaceOption = () => new Option('-w, --workspace <slug|id>', 'the library of a workspace instead of your own');

export function addAssetCommands(program: Command, open: OpenSession): void {
  program.commandsGroup('Files');
  const group = program
    .command('assets')
    .summary('files with versions and share links')
    .description('Manages the files of your library, or with --workspace of a workspace.');
  addFileCommands(group, open);
  addLinkCommands(group, open);
  addCollectionCommands(group, open, workspaceOption);
}

function addFileCommands(group: Command, open: OpenSession): void {
  group
    .command('list')
    .summary('list files')
    .description('Lists the files, newest first; loose ones have no versions.')
    .option('--collection <id>', 'only those in a collection')
    .addOption(workspaceOption())
    .addOption(limitOption())
    .addHelpText('after', example('list --workspace maps'))
    .action(async (options, command) => list(await open(command), options));
  group
    .command('upload')
    .summary('store a file')
    .description('Stores a file of this machine. Begun again after an interruption, it goes on where it stopped.')
    .argument('<file>', 'an image, video, audio, PDF or text')
    .option('--name <name>', 'what it is called; default: the name of the file')
    .option('--loose', 'without versions and links')
    .addOption(workspaceOption())
    .addHelpText('after', example('upload logo.png --name "Our logo"'))
    .action(async (file, options, command) => upload(await open(command), file, options));
  group
    .command('version')
    .summary('store a newer version')
    .description('Stores a file of this machine as the newest version. The newest 20 are kept.')
    .argument(...FILE)
    .argument('<file>', 'the newer file')
    .addOption(workspaceOption())
    .addHelpText('after', example(`version ${EXAMPLE} logo.png`))
    .action(async (id, file, options, command) => version(await open(command), id, file, options));
  group
    .command('versions')
    .summary('list the versions of a file')
    .description('Lists the versions of a file, newest first.')
    .argument(...FILE)
    .addOption(workspaceOption())
    .addOption(limitOption())
    .addHelpText('after', example(`versions ${EXAMPLE}`))
    .action(async (id, options, command) => versions(await open(command), id, options));
  group
    .command('download')
    .summary('write a file to this machine')
    .description('Writes the newest version, or another one, to this machine.')
    .argument(...FILE)
    .option('-o, --output <file>', 'where to; default: the name of the file, which must not be there yet')
    .option('--at <version>', 'an older version')
    .addHelpText('after', example(`download ${EXAMPLE} -o logo.png`))
    .action(async (id, options, command) => download(await open(command), id, options));
  group
    .command('rm')
    .summary('delete a file')
    .description('Deletes a file with its versions and links.')
    .argument(...FILE)
    .addOption(workspaceOption())
    .addHelpText('after', example(`rm ${EXAMPLE}`))
    .action(async (id, options, command) => remove(await open(command), id, options));
}

function addLinkCommands(group: Command, open: OpenSession): void {
  group
    .command('link')
    .summary('make a share link')
    .description('Makes a link by which others open the newest version.')
    .argument(...FILE)
    .option('--expires <time>', 'RFC 3339, such as 2027-01-31T12:00:00Z')
    .option('--password', 'asks for a password, which is read from standard input')
    .option('--domain <domain>', 'only for people with a proved address of this domain')
    .addOption(workspaceOption())
    .addHelpText('after', `\nExamples:\n  easel assets link ${EXAMPLE}\n  easel assets link ${EXAMPLE} --password < password.txt`)
    .action(async (id, options, command) => link(await open(command), id, options));
  group
    .command('links')
    .summary('list share links')
    .description('Lists the share links of a file with their views, newest first.')
    .argument(...FILE)
    .addOption(workspaceOption())
    .addOption(limitOption())
    .addHelpText('after', example(`links ${EXAMPLE}`))
    .action(async (id, options, command) => links(await open(command), id, options));
  group
    .command('revoke')
    .summary('end a share link')
    .description('Ends a share link at once.')
    .argument(...FILE)
    .argument('<link>', 'as "easel assets links" shows it')
    .addOption(workspaceOption())
    .addHelpText('after', example(`revoke ${EXAMPLE} lnk_7m2xw5tz4ndh6b2crpyfk3vq`))
    .action(async (id, linkId, options, command) => revoke(await open(command), id, linkId, options));
}
