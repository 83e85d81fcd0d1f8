/** assets collections: list, create, rename, add, remove, delete. */
import type { Command, Option } from 'commander';
import { libraryOf } from './asset-library.ts';
import { collect, limitOption } from './paging.ts';
import type { OpenSession, Session } from './session.ts';
import { countText, tableText, timeText } from './text.ts';

interface In {
  readonly workspace?: string;
}

async function list(session: Session, options: In & { limit: number }): Promise<void> {
  const library = libraryOf(session, options.workspace);
  const { items, hasMore } = await collect(options.limit, async (query) => {
    const { body } = await library.listCollections(query);
    return { items: body.collections, next: body.nextCursor };
  });
  const rows = items.map((one) => [one.id, String(one.itemCount), timeText(one.createdAt), one.name]);
  const empty = 'No collections yet. Begin with: easel assets collections create Campaign';
  session.answer({ collections: items, hasMore }, rows.length === 0 ? empty : tableText(['ID', 'FILES', 'MADE', 'NAME'], rows));
  if (hasMore) session.remark(`There are more: easel assets collections list --limit ${options.limit * 2}`);
}

async function create(session: Session, name: string, options: In): Promise<void> {
  const { body } = await libraryOf(session, options.workspace).createCollection({ name });
  session.answer(body, `Made ${body.name} as ${body.id}.`);
}

async function rename(session: Session, id: string, name: string, options: In): Promise<void> {
  const { body } = await libraryOf(session, options.workspace).updateCollection(id, { name });
  session.answer(body, `It is called ${body.name} now.`);
}

async function add(session: Session, id: string, fileId: string, options: In): Promise<void> {
  const { body } = await libraryOf(session, options.workspace).addItem(id, fileId);
  session.answer(body, `${body.name} has ${countText(body.itemCount, 'file')}.`);
}

async function remove(session: Session, id: string, fileId: string, options: In): Promise<void> {
  const { body } = await libraryOf(session, options.workspace).removeItem(id, fileId);
  session.answer(body, 'Taken out; the file stays.');
}

async function drop(session: Session, id: string, options: In): Promise<void> {
  const { body } = await libraryOf(session, options.workspace).removeCollection(id);
  session.answer(body, 'Deleted; its files stay.');
}

const COLLECTION = ['<collection>', 'as "easel assets collections list" shows it'] as const;
const FILE = ['<file>', 'as "easel assets list" shows it'] as const;
const EXAMPLE = 'col_xw5tz4ndh6b2crpyfk3vq7m2';
const EXAMPLE_FILE = 'dlv_h6b2crpyfk3vq7m2xw5tz4nd';
const example = (line: string) => `\nExample:\n  easel assets collections ${line}`;

export function addCollectionCommands(assets: Command, open: OpenSession, workspaceOption: () => Option): void {
  const group = assets
    .command('collections')
    .summary('groups of files')
    .description('Manages collections. A file with versions can be in several.');
  group
    .command('list')
    .summary('list collections')
    .description('Lists the collections, newest first. "easel assets list --collection <id>" shows the files of one.')
    .addOption(workspaceOption())
    .addOption(limitOption())
    .addHelpText('after', example('list'))
    .action(async (options, command) => list(await open(command), options));
  group
    .command('create')
    .summary('make a collection')
    .description('Makes an empty collection.')
    .argument('<name>', 'what it is called')
    .addOption(workspaceOption())
    .addHelpText('after', example('create "Spring campaign"'))
    .action(async (name, options, command) => create(await open(command), name, options));
  group
    .command('rename')
    .summary('rename a collection')
    .description('Renames a collection.')
    .argument(...COLLECTION)
    .argument('<name>', 'its new name')
    .addOption(workspaceOption())
    .addHelpText('after', example(`rename ${EXAMPLE} "Summer campaign"`))
    .action(async (id, name, options, command) => rename(await open(command), id, name, options));
  group
    .command('add')
    .summary('put a file into a collection')
    .description('Puts a file with versions into a collection.')
    .argument(...COLLECTION)
    .argument(...FILE)
    .addOption(workspaceOption())
    .addHelpText('after', example(`add ${EXAMPLE} ${EXAMPLE_FILE}`))
    .action(async (id, fileId, options, command) => add(await open(command), id, fileId, options));
  group
    .command('remove')
    .summary('take a file out of a collection')
    .description('Takes a file out of a collection; the file stays.')
    .argument(...COLLECTION)
    .argument(...FILE)
    .addOption(workspaceOption())
    .addHelpText('after', example(`remove ${EXAMPLE} ${EXAMPLE_FILE}`))
    .action(async (id, fileId, options, command) => remove(await open(command), id, fileId, options));
  group
    .command('delete')
    .summary('delete a collection')
    .description('Deletes a collection; its files stay.')
    .argument(...COLLECTION)
    .addOption(workspaceOption())
    .addHelpText('after', example(`delete ${EXAMPLE}`))
    .action(async (id, options, command) => drop(await open(command), id, options));
}
