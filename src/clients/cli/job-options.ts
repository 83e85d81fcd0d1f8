/** The options that say when a job runs and what it does, as bodies of the calls that make and change it. */
import type { Command } from 'commander';
import { type JobAction, jobAction, jobEventType } from '../../../protocol/automation/jobs.ts';
import { artifactIdOf } from './artifact-name.ts';
import { CliFailure } from './failures.ts';
import { readGiven, readGivenJson } from './given-files.ts';
import type { Session } from './session.ts';

type Jobs = Session['api']['jobs'];
type Job = Awaited<ReturnType<Jobs['get']>>['body'];
type NewJob = Parameters<Jobs['create']>[0]['body'];
type JobUpdate = Parameters<Jobs['update']>[0]['body'];

export interface JobOptions {
  readonly artifact?: string;
  readonly title?: string;
  readonly description?: string;
  readonly cron?: string;
  readonly timezone?: string;
  readonly on?: string;
  readonly table?: string;
  readonly key?: string;
  readonly script?: string;
  readonly params?: string;
  readonly dataset?: string;
  readonly action?: string;
  readonly config?: string;
}

export function withJobOptions(command: Command): Command {
  const made = command
    .option('--description <text>', 'for people')
    .option('--cron <expression>', 'when it runs, in five fields')
    .option('--timezone <name>', 'of --cron, such as Europe/Berlin (default: UTC)')
    .option('--on <event>', `instead of --cron: ${jobEventType.options.join(', ')}`)
    .option('--table <name>', 'with --on data.changed: only changes of this table')
    .option('--dataset <name>', 'with --on data.changed: only new versions of this dataset, and its deletion')
    .option('--key <key>', 'with --on data.changed: only changes of this JSON key; orders.* for all that begin so')
    .option('--script <file>', 'a script; its text is the body of an async function')
    .option('--params <json>', 'with --script: the global "params"')
    .option('--action <action>', `instead of --script: ${jobAction.options.join(', ')}`)
    .option('--config <json>', 'settings of the action; "@file" reads a file, "-" standard input');
  return command.name() === 'create' ? made.option('-a, --artifact <id|slug|folder>', 'default: the artifact of this folder') : made;
}

function usage(message: string, hint?: string): CliFailure {
  return new CliFailure('usage', 'INVALID_USAGE', message, hint);
}

function oneOf<T extends string>(options: readonly T[], given: string, name: string): T {
  const found = options.find((option) => option === given);
  if (found === undefined) throw usage(`${name} "${given}" is not known.`, `There are: ${options.join(', ')}.`);
  return found;
}

function jsonOf(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw usage(`${name} is not JSON.`);
  }
}

function triggerOf({ cron, timezone, on, table, key, dataset }: JobOptions) {
  if (cron !== undefined && on !== undefined) throw usage('A job runs by the clock or after an event.', 'Give --cron or --on, not both.');
  const filter = { ...(table !== undefined && { table }), ...(key !== undefined && { key }), ...(dataset !== undefined && { dataset }) };
  if (on === undefined && Object.keys(filter).length > 0) throw usage('--table, --key and --dataset belong to --on data.changed.');
  if (on !== undefined) {
    return {
      trigger_type: 'event' as const,
      event_type: oneOf(jobEventType.options, on, 'The event'),
      event_filter: Object.keys(filter).length > 0 ? filter : null,
      schedule: null,
      timezone: null,
    };
  }
  if (cron === undefined) return undefined;
  return {
    trigger_type: 'cron' as const,
    schedule: cron,
    ...(timezone !== undefined && { timezone }),
    event_type: null,
    event_filter: null,
  };
}

/** What it does; undefined where nothing of it is named. `stored`: params stay where only the script is new, and the reverse. */
async function workOf(
  session: Session,
  options: JobOptions,
  stored?: Job,
): Promise<{ action: JobAction; config: Job['config'] } | undefined> {
  const { script, params, action, config } = options;
  if (script === undefined && params === undefined) {
    if (config === undefined && action === undefined) return undefined;
    const named = action === undefined ? stored?.action : oneOf(jobAction.options, action, 'The action');
    if (named === undefined) throw usage('The action is missing.', `Add --action: ${jobAction.options.join(', ')}.`);
    if (config === undefined) throw usage(`The settings of "${named}" are missing.`, 'Add --config with JSON.');
    return { action: named, config: await configOf(session, config) };
  }
  if (config !== undefined || (action !== undefined && action !== 'script')) {
    throw usage('--script and --params say what the job does.', 'Give them, or --action and --config.');
  }
  const before = stored?.action === 'script' ? stored.config : {};
  if (script === undefined && !('source' in before)) throw usage('--params belongs to a script.', 'Add --script with a file.');
  const source = script === undefined ? {} : { source: (await readGiven(script)).toString('utf8') };
  return { action: 'script', config: { ...before, ...source, ...(params !== undefined && { params: jsonOf(params, '--params') }) } };
}

async function configOf(session: Session, given: string): Promise<Job['config']> {
  const isFile = given === '-' || given.startsWith('@');
  const found = isFile
    ? await readGivenJson<unknown>(given === '-' ? '-' : given.slice(1), session.shell.stdin)
    : jsonOf(given, '--config');
  if (typeof found === 'object' && found !== null && !Array.isArray(found)) return { ...found };
  throw usage('--config is not a JSON object.');
}

export async function bodyOfNew(session: Session, options: JobOptions): Promise<NewJob> {
  const trigger = triggerOf(options);
  if (trigger === undefined) throw usage('It is not said when the job runs.', 'Add --cron "0 9 * * *", or --on data.changed.');
  const work = await workOf(session, options);
  if (work === undefined) throw usage('It is not said what the job does.', 'Add --script file.js, or --action and --config.');
  const { title = '', description } = options;
  const artifact_id = await artifactIdOf(session, options.artifact);
  return { artifact_id, title, ...(description !== undefined && { description }), ...trigger, ...work };
}

export async function changesOf(session: Session, stored: Job, options: JobOptions): Promise<JobUpdate> {
  const { title, description, timezone } = options;
  const trigger = triggerOf(options);
  const zone = trigger === undefined && timezone !== undefined ? { timezone } : {};
  const body: JobUpdate = {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...zone,
    ...trigger,
    ...(await workOf(session, options, stored)),
  };
  if (Object.keys(body).length === 0) throw usage('Nothing is named to change.', '"easel jobs update --help" lists what can be.');
  return body;
}
