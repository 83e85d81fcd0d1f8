/** versions, rollback, pin, unpin, delete-version. */
import type { Command } from 'commander';
import { artifactIdOf } from './artifact-name.ts';
import { CliFailure } from './failures.ts';
import { collect, limitOption } from './paging.ts';
import type { OpenSession, Session } from './session.ts';
import { bytesText, tableText, timeText } from './text.ts';

async function list(session: Session, name: string | undefined, options: { limit: number }): Promise<void> {
  const { signal } = session.shell;
  const id = await artifactIdOf(session, name);
  const { items: versions, hasMore } = await collect(options.limit, async (query) => {
    const { body } = await session.api.versions.list({ params: { id }, query, signal });
    return { items: body.versions, next: body.next_cursor };
  });
  const rows = versions.map((version) => [
    String(version.version_no),
    version.is_live ? 'live' : version.is_draft ? 'draft' : '',
    timeText(version.created_at),
    bytesText(version.size_bytes),
    [version.label, version.note].filter(Boolean).join(' - '),
  ]);
  session.answer({ artifact_id: id, versions, has_more: hasMore }, tableText(['NO', '', 'PUBLISHED', 'SIZE', 'LABEL'], rows));
  if (hasMore) session.remark(`There are more: easel versions --limit ${options.limit * 2}`);
}

/** Parses a version number or a version id. */
function versionRef(text: string): { version_no: number } | { version_id: string } {
  if (/^v?[1-9][0-9]{0,8}$/.test(text)) return { version_no: Number(text.replace('v', '')) };
  if (text.startsWith('ver_')) return { version_id: text };
  throw new CliFailure(
    'usage',
    'INVALID_VERSION',
    `"${text}" is not a version number.`,
    'Give its number, for example 3; "easel versions" lists them.',
  );
}

async function rollback(session: Session, text: string, name: string | undefined): Promise<void> {
  const body = versionRef(text);
  const id = await artifactIdOf(session, name);
  const artifact = (await session.api.versions.rollback({ params: { id }, body, signal: session.shell.signal })).body;
  session.answer(artifact, `Version ${artifact.live_version_no} of ${artifact.slug} is live: ${artifact.url}`);
}

async function pin(session: Session, text: string, name: string | undefined): Promise<void> {
  const { signal } = session.shell;
  const ref = versionRef(text);
  const id = await artifactIdOf(session, name);
  const wanted = 'version_id' in ref ? ref.version_id : String(ref.version_no);
  const version = (await session.api.versions.get({ params: { id, version: wanted }, signal })).body;
  const artifact = (await session.api.versions.pin({ params: { id }, body: { version_id: version.id }, signal })).body;
  session.answer(artifact, `Version ${version.version_no} of ${artifact.slug} stays live until "easel unpin".`);
}

async function unpin(session: Session, name: string | undefined): Promise<void> {
  const id = await artifactIdOf(session, name);
  const artifact = (await session.api.versions.pin({ params: { id }, body: { version_id: null }, signal: session.shell.signal })).body;
  session.answer(artifact, `${artifact.slug} follows the newest version again; version ${artifact.live_version_no ?? '-'} is live.`);
}

async function remove(session: Session, text: string, name: string | undefined): Promise<void> {
  const { signal } = session.shell;
  const ref = versionRef(text);
  const id = await artifactIdOf(session, name);
  const version = 'version_id' in ref ? ref.version_id : String(ref.version_no);
  const deleted = (await session.api.versions.delete({ params: { id, version }, signal })).body;
  session.answer({ artifact_id: id, ...deleted }, `Version ${deleted.version_no} is deleted for good.`);
}

const ARTIFACT = ['[artifact]', 'slug, id or folder (default: the artifact of this folder)'] as const;

export function addVersionCommands(program: Command, open: OpenSession): void {
  program.commandsGroup('Versions');
  program
    .command('versions')
    .summary('list the versions of a page')
    .description('Lists the versions, newest first.')
    .argument(...ARTIFACT)
    .addOption(limitOption())
    .addHelpText('after', '\nExamples:\n  easel versions\n  easel versions my-site --json')
    .action(async (artifact, options, command) => list(await open(command), artifact, options));
  program
    .command('rollback')
    .summary('make an earlier version live again')
    .description('Makes an earlier version live again. Newer versions stay, and the next publish goes live as usual.')
    .argument('<version>', 'the number of the version, for example 3')
    .argument(...ARTIFACT)
    .addHelpText('after', '\nExamples:\n  easel rollback 1\n  easel rollback 3 my-site')
    .action(async (version, artifact, _options, command) => rollback(await open(command), version, artifact));
  program
    .command('pin')
    .summary('keep a version live while new ones are published')
    .description('Keeps a version live: versions published later do not go live until "easel unpin".')
    .argument('<version>', 'the number of the version, for example 3')
    .argument(...ARTIFACT)
    .addHelpText('after', '\nExample:\n  easel pin 3 my-site')
    .action(async (version, artifact, _options, command) => pin(await open(command), version, artifact));
  program
    .command('unpin')
    .summary('follow the newest version again')
    .description('Removes the pin: the newest version is live again.')
    .argument(...ARTIFACT)
    .addHelpText('after', '\nExample:\n  easel unpin my-site')
    .action(async (artifact, _options, command) => unpin(await open(command), artifact));
  program
    .command('delete-version')
    .summary('delete a draft or an old version for good')
    .description(
      'Deletes a version with its files and preview links for good, which makes room in the account. The live version, a pinned one and the only one stay.',
    )
    .argument('<version>', 'the number of the version, for example 3')
    .argument(...ARTIFACT)
    .addHelpText('after', '\nExamples:\n  easel delete-version 2\n  easel delete-version 3 my-site')
    .action(async (version, artifact, _options, command) => remove(await open(command), version, artifact));
}
