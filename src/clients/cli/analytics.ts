/** analytics: how often a page is opened. */
import { type Command, Option } from 'commander';
import { RANGES } from '../../../protocol/artifacts/analytics.ts';
import { artifactIdOf } from './artifact-name.ts';
import type { OpenSession, Session } from './session.ts';
import { countText, tableText } from './text.ts';

interface AnalyticsOptions {
  readonly range: (typeof RANGES)[number];
}

async function show(session: Session, name: string | undefined, { range }: AnalyticsOptions): Promise<void> {
  const id = await artifactIdOf(session, name);
  const answer = (await session.api.analytics.views({ params: { id }, query: { range }, signal: session.shell.signal })).body;
  const { views, total } = answer;
  const first = views.findIndex((day) => day.views > 0);
  if (first < 0) {
    session.answer(answer, `Nobody has opened the page in the last ${range} days.`);
    return;
  }
  const rows = views.slice(first).map((day) => [day.date, String(day.views), String(day.visitors)]);
  session.answer(answer, tableText(['DAY', 'VIEWS', 'VISITORS'], rows));
  session.remark(`${countText(total.views, 'view')} in ${range} days. Nobody is known again on another day.`);
}

export function addAnalyticsCommand(program: Command, open: OpenSession): void {
  program
    .command('analytics')
    .summary('see how often a page is opened')
    .description('Lists views and visitors of each day (UTC), from the first day with views. Bots and previews do not count; you do.')
    .argument('[artifact]', 'slug, id or folder (default: the artifact of this folder)')
    .addOption(new Option('--range <days>', 'how many days, today included').choices(RANGES).default('30'))
    .addHelpText('after', '\nExamples:\n  easel analytics my-site\n  easel analytics my-site --range 90 --json')
    .action(async (artifact, options, command) => show(await open(command), artifact, options));
}
