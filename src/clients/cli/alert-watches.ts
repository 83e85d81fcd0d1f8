/** alerts watches | watch | unwatch: the bell rings when a table leaves its usual range. */
import type { Command } from 'commander';
import { artifactIdOf, artifactOption } from './artifact-name.ts';
import { CliFailure } from './failures.ts';
import { collect, limitOption } from './paging.ts';
import type { OpenSession, Session } from './session.ts';
import { tableText } from './text.ts';

type Watch = Awaited<ReturnType<Session['api']['watches']['get']>>['body']['watch'];

interface WatchOptions {
  readonly artifact?: string;
  readonly sum?: string;
  readonly last?: string;
  readonly threshold?: number;
}

async function list(session: Session, name: string | undefined, { limit }: { readonly limit: number }): Promise<void> {
  const artifact_id = await artifactIdOf(session, name);
  const { items, hasMore } = await collect(limit, async (page) => {
    const { body } = await session.api.watches.list({ query: { artifact_id, ...page }, signal: session.shell.signal });
    return { items: body.watches, next: body.next_cursor };
  });
  const rows = items.map((watch) => [
    watch.id,
    watch.enabled ? 'on' : 'off',
    whatText(watch),
    `${watch.threshold_pct} %`,
    numberText(watch.last_value),
    watch.baseline === null ? 'learning' : numberText(watch.baseline),
  ]);
  const text = rows.length === 0 ? 'You watch nothing here.' : tableText(['ID', '', 'WATCHES', 'ALLOWS', 'LAST', 'USUAL'], rows);
  session.answer({ watches: items, has_more: hasMore }, text);
}

function whatText({ table, kind, column }: Watch): string {
  return kind === 'count' ? `rows of ${table}` : `${kind} of ${table}.${column}`;
}

function numberText(value: number | null): string {
  return value === null ? '-' : String(value);
}

async function watch(session: Session, table: string, { artifact, sum, last, threshold }: WatchOptions): Promise<void> {
  if (sum !== undefined && last !== undefined) {
    throw new CliFailure('usage', 'INVALID_USAGE', 'A watch has one column.', 'Give either --sum or --last.');
  }
  const body = {
    artifact_id: await artifactIdOf(session, artifact),
    table,
    ...(sum !== undefined
      ? { kind: 'sum' as const, column: sum }
      : last !== undefined
        ? { kind: 'last' as const, column: last }
        : { kind: 'count' as const }),
    ...(threshold !== undefined && { threshold_pct: threshold }),
  };
  const made = (await session.api.watches.create({ body, signal: session.shell.signal })).body;
  session.answer(made, `You watch the ${whatText(made.watch)}. End it with: easel alerts unwatch ${made.watch.id}`);
}

async function unwatch(session: Session, watchId: string): Promise<void> {
  const { body } = await session.api.watches.delete({ params: { watchId }, signal: session.shell.signal });
  session.answer(body, 'You do not watch it any more.');
}

export function addWatchCommands(group: Command, open: OpenSession): void {
  group
    .command('watches')
    .summary('list your watches of a page')
    .description('Lists your watches of a page with their last values and what is usual.')
    .argument('[artifact]', 'slug, id or folder (default: the artifact of this folder)')
    .addOption(limitOption())
    .addHelpText('after', '\nExample:\n  easel alerts watches my-shop')
    .action(async (artifact, options, command) => list(await open(command), artifact, options));
  group
    .command('watch')
    .summary('watch a table')
    .description('Rings your bell when the rows of a table, or a column, move away from what is usual in the last 14 days.')
    .argument('<table>', 'of the page')
    .addOption(artifactOption())
    .option('--sum <column>', 'watch the sum of a column')
    .option('--last <column>', 'watch a column of the newest row')
    .option('--threshold <percent>', 'how far it may move (default: 20)', Number)
    .addHelpText(
      'after',
      '\nExamples:\n  easel alerts watch orders -a my-shop\n  easel alerts watch orders -a my-shop --sum total --threshold 50',
    )
    .action(async (table, options, command) => watch(await open(command), table, options));
  group
    .command('unwatch')
    .summary('end a watch')
    .description('Ends a watch.')
    .argument('<id>', 'of the watch')
    .addHelpText('after', '\nExample:\n  easel alerts unwatch mwt_vq7m2xw5tz4ndh6b2crpyfk3')
    .action(async (id, _options, command) => unwatch(await open(command), id));
}
