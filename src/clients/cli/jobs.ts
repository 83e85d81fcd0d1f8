/** jobs: list, show, create, update, pause, resume, run, logs, rehearse, delete, preview, test. What a page does while nobody looks. */
import type { Command } from 'commander';
import { artifactIdOf } from './artifact-name.ts';
import { bodyOfNew, changesOf, type JobOptions, withJobOptions } from './job-options.ts';
import { addJobRunCommands } from './job-runs.ts';
import { addJobTestCommand } from './jobs-test.ts';
import { collect, limitOption } from './paging.ts';
import type { OpenSession, Session } from './session.ts';
import { tableText, timeText } from './text.ts';

type Jobs = Session['api']['jobs'];
type Job = Awaited<ReturnType<Jobs['get']>>['body'];

function triggerText({ schedule, timezone, event_type, event_filter }: Job): string {
  if (event_type === null) return `${schedule} ${timezone}`;
  return [event_type, event_filter?.table, event_filter?.key, event_filter?.dataset].filter((part) => part !== undefined).join(' ');
}

function stateText({ enabled, paused_reason }: Job): string {
  if (enabled) return 'on';
  return paused_reason === null ? 'paused' : `paused: ${paused_reason}`;
}

async function list(session: Session, name: string | undefined, options: { limit: number; mine?: boolean }): Promise<void> {
  const artifact_id = options.mine ? undefined : await artifactIdOf(session, name);
  const { items, hasMore } = await collect(options.limit, async (page) => {
    const { body } = await session.api.jobs.list({ query: { artifact_id, ...page }, signal: session.shell.signal });
    return { items: body.jobs, next: body.next_cursor };
  });
  const rows = items.map((job) => [
    job.id,
    job.title,
    job.action,
    triggerText(job),
    job.enabled ? 'on' : 'paused',
    job.next_run_at === null ? '-' : timeText(job.next_run_at),
    job.last_status ?? '-',
  ]);
  const head = ['ID', 'TITLE', 'ACTION', 'WHEN', 'STATE', 'NEXT RUN', 'LAST'];
  session.answer({ jobs: items, has_more: hasMore }, rows.length === 0 ? 'No jobs.' : tableText(head, rows));
  if (hasMore) session.remark(`There are more: add --limit ${options.limit * 2}.`);
}

function jobText(job: Job): string {
  const rows = [
    ['Page', job.artifact_id],
    ['When', triggerText(job)],
    ['State', stateText(job)],
    ['Next run', job.next_run_at === null ? '-' : timeText(job.next_run_at)],
    ['Last run', job.last_run_at === null ? '-' : `${timeText(job.last_run_at)}, ${job.last_status}`],
    ['Attempts', String(job.retry_config.maxAttempts)],
  ].map(([name = '', value]) => `${name.padEnd(9)} ${value}`);
  const about = job.description === null ? [] : [job.description];
  return [`${job.title} (${job.action})`, ...about, ...rows, '', ...configLines(job.config)].join('\n');
}

/** Scripts as they are; other settings as JSON. */
function configLines(config: Job['config']): string[] {
  return Object.entries(config).map(([name, value]) =>
    typeof value === 'string' && value.includes('\n') ? `${name}:\n${value.trimEnd()}` : `${name}: ${JSON.stringify(value)}`,
  );
}

async function show(session: Session, jobId: string): Promise<void> {
  const job = (await session.api.jobs.get({ params: { jobId }, signal: session.shell.signal })).body;
  session.answer(job, jobText(job));
}

async function create(session: Session, options: JobOptions): Promise<void> {
  const body = await bodyOfNew(session, options);
  const job = (await session.api.jobs.create({ body, signal: session.shell.signal })).body;
  const next = job.next_run_at === null ? '' : ` It runs next at ${timeText(job.next_run_at)}.`;
  session.answer(job, `Made the job ${job.id}.${next}`);
}

async function update(session: Session, jobId: string, options: JobOptions): Promise<void> {
  const { signal } = session.shell;
  const { body: stored, headers } = await session.api.jobs.get({ params: { jobId }, signal });
  const body = await changesOf(session, stored, options);
  // Parts of it come from what was read, so another change since then must not be overwritten.
  const job = (await session.api.jobs.update({ params: { jobId }, body, ifMatch: headers.get('etag') ?? undefined, signal })).body;
  session.answer(job, `Changed.\n\n${jobText(job)}`);
}

async function turn(session: Session, jobId: string, enabled: boolean): Promise<void> {
  const job = (await session.api.jobs.update({ params: { jobId }, body: { enabled }, signal: session.shell.signal })).body;
  const next = job.next_run_at === null ? '' : ` It runs next at ${timeText(job.next_run_at)}.`;
  session.answer(job, enabled ? `"${job.title}" is on.${next}` : `"${job.title}" is paused.`);
}

async function remove(session: Session, jobId: string): Promise<void> {
  const done = (await session.api.jobs.delete({ params: { jobId }, signal: session.shell.signal })).body;
  session.answer(done, `Deleted ${jobId} and the record of its runs.`);
}

async function preview(session: Session, schedule: string, options: { timezone?: string }): Promise<void> {
  const body = { schedule, ...(options.timezone !== undefined && { timezone: options.timezone }) };
  const found = (await session.api.jobs.preview({ body, signal: session.shell.signal })).body;
  const times = found.next.map((at) => `  ${timeText(at)}`);
  session.answer(found, found.valid ? [found.human?.en ?? schedule, ...times].join('\n') : `Not a schedule: ${found.error}`);
}

const JOB = ['<id>', 'of the job'] as const;
const ID = 'job_w5tz4ndh6b2crpyfk3vq7m2x';

export function addJobCommands(program: Command, open: OpenSession): void {
  program.commandsGroup('Automation');
  const group = program
    .command('jobs')
    .summary('scheduled work')
    .description('Work that the service does for a page by the clock or after an event, such as scripts.');
  addReading(group, open);
  withJobOptions(group.command('create'))
    .summary('make a job')
    .description(
      'Makes a job: a script with --script, or another action with --config; by the clock with --cron or after an event with --on.',
    )
    .requiredOption('--title <text>', 'what people call it')
    .addHelpText(
      'after',
      '\nExamples:\n  easel jobs create --title "Count orders" --cron "0 9 * * 1-5" --timezone Europe/Berlin --script count.js\n  easel jobs create --title Tell --on data.changed --table orders --action webhook --config \'{"url":"https://example.com"}\'\n  easel jobs create --title Orders --cron "0 * * * *" --action materialize --config \'{"connection_id":"con_…","query":"select * from orders","cursor_column":"id","dataset":"orders"}\'',
    )
    .action(async (options, command) => create(await open(command), options));
  withJobOptions(group.command('update'))
    .summary('change a job')
    .description('Changes what is named. --config replaces the settings; secrets in it that are sent as shown stay.')
    .argument(...JOB)
    .option('--title <text>', 'what people call it')
    .addHelpText('after', `\nExample:\n  easel jobs update ${ID} --cron "30 9 * * 1-5"`)
    .action(async (id, options, command) => update(await open(command), id, options));
  addTurning(group, open);
  addJobRunCommands(group, open);
  addJobTestCommand(group, open);
}

function addReading(group: Command, open: OpenSession): void {
  group
    .command('list')
    .summary('list the jobs of a page')
    .description('Lists jobs, newest first: those of a page that you may edit, or with --mine those that you have made.')
    .argument('[artifact]', 'slug, id or folder (default: the artifact of this folder)')
    .option('--mine', 'those that you have made, of all pages')
    .addOption(limitOption())
    .addHelpText('after', '\nExample:\n  easel jobs list my-site')
    .action(async (artifact, options, command) => list(await open(command), artifact, options));
  group
    .command('show')
    .summary('show a job')
    .description('Shows a job with its settings; secrets are shown as ********.')
    .argument(...JOB)
    .addHelpText('after', `\nExample:\n  easel jobs show ${ID}`)
    .action(async (id, _options, command) => show(await open(command), id));
  group
    .command('preview')
    .summary('say when a schedule is due')
    .description('Says in words what a cron expression means, and when it is due next.')
    .argument('<cron>', 'minute, hour, day of the month, month, day of the week')
    .option('--timezone <name>', 'default UTC')
    .addHelpText('after', '\nExample:\n  easel jobs preview "0 9 * * 1-5" --timezone Europe/Berlin')
    .action(async (cron, options, command) => preview(await open(command), cron, options));
}

function addTurning(group: Command, open: OpenSession): void {
  group
    .command('pause')
    .summary('pause a job')
    .description('Pauses a job. It can still be run by hand.')
    .argument(...JOB)
    .addHelpText('after', `\nExample:\n  easel jobs pause ${ID}`)
    .action(async (id, _options, command) => turn(await open(command), id, false));
  group
    .command('resume')
    .summary('resume a paused job')
    .description('Resumes a paused job from its next due time on.')
    .argument(...JOB)
    .addHelpText('after', `\nExample:\n  easel jobs resume ${ID}`)
    .action(async (id, _options, command) => turn(await open(command), id, true));
  group
    .command('delete')
    .summary('delete a job')
    .description('Deletes a job with the record of its runs. This cannot be undone.')
    .argument(...JOB)
    .addHelpText('after', `\nExample:\n  easel jobs delete ${ID}`)
    .action(async (id, _options, command) => remove(await open(command), id));
}
