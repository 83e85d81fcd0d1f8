/** jobs run, logs, rehearse: what a job does now, has done and would do. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { runStatus } from '../../../protocol/automation/jobs.ts';
import { CliFailure } from './failures.ts';
import { collect, limitOption } from './paging.ts';
import type { OpenSession, Session } from './session.ts';
import { countText, tableText, timeText } from './text.ts';

type Jobs = Session['api']['jobs'];
type Run = Awaited<ReturnType<Jobs['getRun']>>['body'];
type Rehearsal = Awaited<ReturnType<Jobs['rehearse']>>['body'];

const ASK_EVERY_MS = 500;
const STATUSES: readonly string[] = runStatus.options;

async function run(session: Session, jobId: string, options: { readonly wait?: boolean }): Promise<void> {
  const { signal } = session.shell;
  const started = (await session.api.jobs.run({ params: { jobId }, signal })).body.run;
  if (!options.wait) {
    session.answer(started, `Started ${started.id}. See what becomes of it: easel jobs logs ${jobId} --run ${started.id}`);
    return;
  }
  let found: Run = started;
  while (found.status === 'queued' || found.status === 'running') {
    await pause(ASK_EVERY_MS, undefined, { signal });
    found = (await session.api.jobs.getRun({ params: { jobId, runId: started.id }, signal })).body;
  }
  session.answer(found, runText(found));
  if (found.status === 'succeeded') return;
  throw new CliFailure('unexpected', 'RUN_FAILED', `The run has ${found.status === 'failed' ? 'failed' : `ended as ${found.status}`}.`);
}

function runText(found: Run): string {
  const times = found.finished_at === null ? timeText(found.scheduled_for) : timeText(found.finished_at);
  const changes = (found.changes ?? []).map(({ channel, name, op, count }) => `${op} ${channel} ${name} (${count})`);
  return [
    `${found.status}, ${times}, attempt ${found.attempt}${found.reason === null ? '' : `: ${found.reason}`}`,
    ...(found.error === null ? [] : [`error: ${found.error}`]),
    ...(found.output === null || found.output === '' ? [] : [found.output.trimEnd()]),
    ...changes,
  ].join('\n');
}

interface LogOptions {
  readonly limit: number;
  readonly status?: string;
  readonly run?: string;
}

async function logs(session: Session, jobId: string, { limit, status: asked, run: runId }: LogOptions): Promise<void> {
  const { signal } = session.shell;
  if (runId !== undefined) {
    const found = (await session.api.jobs.getRun({ params: { jobId, runId }, signal })).body;
    session.answer(found, runText(found));
    return;
  }
  if (asked !== undefined && !STATUSES.includes(asked)) {
    throw new CliFailure('usage', 'INVALID_USAGE', `The status "${asked}" is not known.`, `There are: ${STATUSES.join(', ')}.`);
  }
  const status = runStatus.options.find((one) => one === asked);
  const { items, hasMore } = await collect(limit, async (page) => {
    const { body } = await session.api.jobs.logs({ params: { jobId }, query: { status, ...page }, signal });
    return { items: body.runs, next: body.next_cursor };
  });
  const rows = items.map((one) => [
    timeText(one.scheduled_for),
    one.status,
    one.trigger,
    one.due_times > 1 ? String(one.due_times) : '',
    one.id,
    (one.reason ?? one.error ?? '').split('\n', 1)[0] ?? '',
  ]);
  const head = ['DUE', 'STATUS', 'BY', 'TIMES', 'ID', 'WHY'];
  session.answer({ runs: items, has_more: hasMore }, rows.length === 0 ? 'No runs.' : tableText(head, rows));
  if (hasMore) session.remark(`There are more: easel jobs logs ${jobId} --limit ${limit * 2}`);
}

async function rehearse(session: Session, jobId: string): Promise<void> {
  const found = (await session.api.jobs.rehearse({ params: { jobId }, signal: session.shell.signal })).body;
  session.answer(found, rehearsalText(found));
  if (found.error !== null) throw new CliFailure('unexpected', 'REHEARSAL_FAILED', `The job would fail: ${found.error}`);
}

function rehearsalText({ would, output }: Rehearsal): string {
  const { write, send, call } = would;
  const lines = [
    ...write.flatMap(({ channel, name, before, after }) => [
      `write ${channel} ${name}`,
      `  - ${JSON.stringify(before)}`,
      `  + ${JSON.stringify(after)}`,
    ]),
    ...send.map(
      ({ to, subject, attachments }) =>
        `send to ${to.join(', ')}: ${subject}${attachments.length > 0 ? ` (with ${attachments.join(', ')})` : ''}`,
    ),
    ...call.map(({ method, url }) => `call ${method} ${url}`),
  ];
  const count = write.length + send.length + call.length;
  const head = count === 0 ? 'It would change nothing.' : `It would do ${countText(count, 'thing')}:`;
  return [head, ...lines, ...(output === null || output === '' ? [] : ['', output.trimEnd()])].join('\n');
}

const JOB = ['<id>', 'of the job'] as const;
const ID = 'job_w5tz4ndh6b2crpyfk3vq7m2x';

export function addJobRunCommands(group: Command, open: OpenSession): void {
  group
    .command('run')
    .summary('run a job now')
    .description('Starts a run now, also of a paused job. With --wait it prints the outcome, and fails where the run does.')
    .argument(...JOB)
    .option('--wait', 'until it has ended')
    .addHelpText('after', `\nExample:\n  easel jobs run ${ID} --wait`)
    .action(async (id, options, command) => run(await open(command), id, options));
  group
    .command('logs')
    .summary('show what a job has done')
    .description('Lists the runs of a job, and the due times at which it did not run and why. Newest first.')
    .argument(...JOB)
    .option('--status <status>', `only these: ${STATUSES.join(', ')}`)
    .option('--run <run>', 'this run, with what it printed and changed')
    .addOption(limitOption())
    .addHelpText('after', `\nExample:\n  easel jobs logs ${ID} --status failed`)
    .action(async (id, options, command) => logs(await open(command), id, options));
  group
    .command('rehearse')
    .summary('show what a job would do')
    .description('Runs a job without effect and shows what it would write, send and call.')
    .argument(...JOB)
    .addHelpText('after', `\nExample:\n  easel jobs rehearse ${ID}`)
    .action(async (id, _options, command) => rehearse(await open(command), id));
}
