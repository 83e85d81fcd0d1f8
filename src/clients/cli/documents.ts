/** docs list, get, versions, restore: the collaborative documents of a page. */
import { writeFile } from 'node:fs/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { artifactIdOf, artifactOption } from './artifact-name.ts';
import { CliFailure } from './failures.ts';
import { fileFailure } from './given-files.ts';
import { collect, limitOption } from './paging.ts';
import type { OpenSession, Session } from './session.ts';
import { bytesText, tableText, timeText } from './text.ts';

interface Named {
  readonly artifact?: string;
}

async function list(session: Session, options: Named & { limit: number }): Promise<void> {
  const artifactId = await artifactIdOf(session, options.artifact);
  const { items: documents, hasMore } = await collect(options.limit, async (query) => {
    const { data } = (await session.api.documents.list({ params: { artifactId }, query, signal: session.shell.signal })).body;
    return { items: data.documents, next: data.nextCursor };
  });
  const rows = documents.map((each) => [each.name, timeText(each.updatedAt), bytesText(each.sizeBytes), String(each.connected)]);
  const text = documents.length === 0 ? 'No documents.' : tableText(['NAME', 'CHANGED', 'SIZE', 'OPEN'], rows);
  session.answer({ artifact_id: artifactId, documents, hasMore }, text);
  if (hasMore) session.remark(`There are more: easel docs list --limit ${options.limit * 2}`);
}

type GetOptions = Named & { text?: true | string; update?: string; seq?: number };

/** Anybody may have written the text, so control characters must not reach a terminal. */
function forOutput(session: Session, text: string): string {
  return session.shell.stdout.isTTY === true ? text.replace(/[^\P{Cc}\n\t]/gu, ' ') : text;
}

async function get(session: Session, doc: string, options: GetOptions): Promise<void> {
  if (options.text !== undefined && options.update !== undefined) {
    throw new CliFailure('usage', 'INVALID_USAGE', 'Give either --text or --update.');
  }
  const params = { artifactId: await artifactIdOf(session, options.artifact), doc };
  const { signal } = session.shell;
  const { seq } = options;
  if (options.update !== undefined) {
    const { body, headers } = await session.api.documents.state({ params, query: { seq }, signal });
    const file = options.update;
    await writeFile(file, body).catch((error: unknown) => {
      throw fileFailure(error, 'written', file);
    });
    session.answer({ name: doc, etag: headers.get('etag'), file: options.update, bytes: body.byteLength }, `Written to ${options.update}.`);
    return;
  }
  if (options.text !== undefined) {
    const type = options.text === true ? undefined : options.text;
    const { body, headers } = await session.api.documents.text({ params, query: { seq, type }, signal });
    const text = new TextDecoder().decode(body);
    session.answer({ name: doc, etag: headers.get('etag'), text }, forOutput(session, text));
    return;
  }
  const { data } = (await session.api.documents.get({ params, query: { seq }, signal })).body;
  session.answer(data, JSON.stringify(data.content, null, 2));
}

async function versions(session: Session, doc: string, options: Named & { limit: number; keep?: true | string }): Promise<void> {
  const params = { artifactId: await artifactIdOf(session, options.artifact), doc };
  const { signal } = session.shell;
  if (options.keep !== undefined) {
    const label = options.keep === true ? null : options.keep;
    const { data } = (await session.api.documents.makeVersion({ params, body: { label }, signal })).body;
    session.answer(data, `Saved a version of ${doc}. To go back to it: easel docs restore ${doc} ${data.seq}`);
    return;
  }
  const { items, hasMore } = await collect(options.limit, async (query) => {
    const { data } = (await session.api.documents.versions({ params, query, signal })).body;
    return { items: data.versions, next: data.nextCursor };
  });
  const rows = items.map((each) => [
    String(each.seq),
    timeText(each.createdAt),
    bytesText(each.sizeBytes),
    each.label ?? (each.automatic ? '(automatic)' : ''),
  ]);
  session.answer(
    { name: doc, versions: items, hasMore },
    items.length === 0 ? 'No versions.' : tableText(['SEQ', 'SAVED', 'SIZE', 'LABEL'], rows),
  );
  if (hasMore) session.remark(`There are more: easel docs versions ${doc} --limit ${options.limit * 2}`);
}

async function restore(session: Session, doc: string, seq: number, options: Named): Promise<void> {
  const params = { artifactId: await artifactIdOf(session, options.artifact), doc };
  const { data } = (await session.api.documents.restore({ params, body: { seq }, signal: session.shell.signal })).body;
  session.answer(data, data.restored ? `Restored ${doc} to version ${seq}.` : `${doc} has not changed since version ${seq}.`);
}

function seqOf(text: string): number {
  const seq = Number(text);
  if (!Number.isSafeInteger(seq) || seq < 1)
    throw new InvalidArgumentError('It must be a whole number, at least 1; "easel docs versions" lists them.');
  return seq;
}

export function addDocumentCommands(program: Command, open: OpenSession): void {
  program.commandsGroup('Data');
  const docs = program
    .command('docs')
    .summary('read shared documents and restore their versions')
    .description('Reads the shared documents of a page, and restores earlier versions of them.')
    .addHelpText('after', '\nExamples:\n  easel docs list\n  easel docs get notes --text');
  docs
    .command('list')
    .summary('list the documents')
    .description('Lists the documents, with the number of open connections to each.')
    .addOption(limitOption())
    .addOption(artifactOption())
    .addHelpText('after', '\nExample:\n  easel docs list -a my-site')
    .action(async (options, command) => list(await open(command), options));
  docs
    .command('get')
    .summary('print a document')
    .description('Prints a document as JSON, or one of its texts as plain text.')
    .argument('<document>')
    .option('--text [type]', 'one shared text; give its name if there are several')
    .option('--update <file>', 'write the whole document to a file, as a Yjs update')
    .addOption(new Option('--seq <seq>', 'the version with this number instead of the current one').argParser(seqOf))
    .addOption(artifactOption())
    .addHelpText(
      'after',
      '\nExamples:\n  easel docs get notes\n  easel docs get notes --text content\n  easel docs get notes --seq 120 -a my-site',
    )
    .action(async (doc, options, command) => get(await open(command), doc, options));
  docs
    .command('versions')
    .summary('list the versions of a document, or save one')
    .description('Lists the versions of a document, newest first.')
    .argument('<document>')
    .option('--keep [label]', 'save the current state as a version')
    .addOption(limitOption())
    .addOption(artifactOption())
    .addHelpText('after', '\nExamples:\n  easel docs versions notes\n  easel docs versions notes --keep "before the talk"')
    .action(async (doc, options, command) => versions(await open(command), doc, options));
  docs
    .command('restore')
    .summary('restore a version of a document')
    .description(
      'Restores the content of a version. Everybody who is connected sees the change, and it can be undone by restoring another version.',
    )
    .argument('<document>')
    .argument('<seq>', 'the number of the version', seqOf)
    .addOption(artifactOption())
    .addHelpText('after', '\nExample:\n  easel docs restore notes 120')
    .action(async (doc, seq, options, command) => restore(await open(command), doc, seq, options));
}
