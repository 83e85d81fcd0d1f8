/** search: pages and other things by their names, and pages by their text. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { LIMITS } from '../../../protocol/core/limits.ts';
import { SEARCH_GROUPS, type SearchHit } from '../../../protocol/library/search.ts';
import type { OpenSession, Session } from './session.ts';
import { tableText } from './text.ts';

interface SearchOptions {
  readonly limit: number;
  readonly in?: readonly string[];
  readonly workspace?: string;
}

async function search(session: Session, words: readonly string[], options: SearchOptions): Promise<void> {
  const query = {
    q: words.join(' '),
    limit: options.limit,
    ...(options.in !== undefined && { groups: options.in.join(',') }),
    ...(options.workspace !== undefined && { workspace: options.workspace }),
  };
  const { body } = await session.api.search.find({ query, signal: session.shell.signal });
  const parts = SEARCH_GROUPS.flatMap((group) => (body[group].length === 0 ? [] : [groupText(group, body[group])]));
  session.answer(body, parts.length === 0 ? 'Nothing was found.' : parts.join('\n\n'));
}

function groupText(group: string, hits: readonly SearchHit[]): string {
  const rows = hits.map(({ title, subtitle, url, snippet }) => [
    plain(title),
    plain(subtitle ?? ''),
    url ?? '',
    plain(snippet?.text ?? ''),
  ]);
  return tableText([group.toUpperCase(), '', 'ADDRESS', ''], rows);
}

/** Anybody may have written it, so control characters must not reach the terminal. */
function plain(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ');
}

function limitOf(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= LIMITS.searchHitsMax) return limit;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${LIMITS.searchHitsMax}.`);
}

export function addSearchCommand(program: Command, open: OpenSession): void {
  program
    .command('search')
    .summary('find pages by what they say, and everything else by its name')
    .description(
      'Finds what you may open: pages by their names and their text, and all else by its name. Without words it shows what has changed last.',
    )
    .argument('[words...]', 'in any order; the last one may be a beginning, and misspelt ones are found too')
    .addOption(new Option('--in <groups...>', 'only these').choices(SEARCH_GROUPS))
    .option('--workspace <workspace>', 'only what is in this workspace')
    .addOption(new Option('--limit <count>', 'hits of each group').argParser(limitOf).default(10))
    .addHelpText(
      'after',
      '\nExamples:\n  easel search quarterly report\n  easel search revenue --in artifacts datasets\n  easel search invoices --workspace acme --json',
    )
    .action(async (words, options, command) => search(await open(command), words, options));
}
