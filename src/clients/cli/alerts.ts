/** alerts: rules that compare a metric, their evaluations, a backtest before they are saved and a rehearsal after. */
import { type Command, Option } from 'commander';
import { ALERT_OPS } from '../../../protocol/automation/alerts.ts';
import { addMetricCommands } from './alert-metrics.ts';
import { addWatchCommands } from './alert-watches.ts';
import { artifactIdOf, artifactOption } from './artifact-name.ts';
import { CliFailure } from './failures.ts';
import { collect, limitOption } from './paging.ts';
import type { OpenSession, Session } from './session.ts';
import { countText, tableText, timeText } from './text.ts';

type Api = Session['api']['alerts'];
type Rule = Awaited<ReturnType<Api['get']>>['body'];
type NewRule = Parameters<Api['create']>[0]['body'];
type Destination = NewRule['destination'];

interface RuleOptions {
  readonly artifact?: string;
  readonly metric: string;
  readonly op: NewRule['condition']['op'];
  readonly value: number;
  readonly name?: string;
  readonly schedule: string;
  readonly timezone?: string;
  readonly email: readonly string[];
  readonly webhook?: string;
  readonly secret?: string;
  readonly get?: string;
  readonly message?: string;
  readonly cooldown?: number;
  readonly notifyRecovery?: boolean;
  readonly backtest?: boolean;
}

async function list(session: Session, name: string | undefined, { limit }: { readonly limit: number }): Promise<void> {
  const artifact_id = await artifactIdOf(session, name);
  const { items, hasMore } = await collect(limit, async (page) => {
    const { body } = await session.api.alerts.list({ query: { artifact_id, ...page }, signal: session.shell.signal });
    return { items: body.alerts, next: body.next_cursor };
  });
  const rows = items.map((rule) => [
    rule.id,
    stateText(rule),
    conditionText(rule),
    rule.schedule,
    rule.destination.kind,
    lineOf(rule.name),
  ]);
  const text = rows.length === 0 ? 'No alert rules.' : tableText(['ID', 'STATE', 'WHEN', 'SCHEDULE', 'TELLS', 'NAME'], rows);
  session.answer({ alerts: items, has_more: hasMore }, text);
}

function stateText({ enabled, state }: Rule): string {
  return enabled ? state : 'off';
}

function conditionText({ metric_id, condition }: Pick<Rule, 'metric_id' | 'condition'>): string {
  return `${metric_id} ${condition.op} ${condition.value}`;
}

function ruleText(rule: Rule): string {
  const { to, url, secret } = rule.destination.config;
  const target = [to?.join(', '), url, secret === undefined ? undefined : '(signed)'].filter((part) => part !== undefined).join(' ');
  const lines = [
    `${lineOf(rule.name)}: ${conditionText(rule)}, ${rule.schedule} (${rule.timezone})`,
    `state    ${stateText(rule)}${rule.disabled_reason === null ? '' : `: ${lineOf(rule.disabled_reason)}`}`,
    `tells    ${rule.destination.kind} ${target}`.trimEnd(),
    `cooldown ${rule.cooldown_seconds} s`,
    `last     ${rule.last_value ?? '-'}`,
    `next     ${rule.next_evaluation_at === null ? '-' : timeText(rule.next_evaluation_at)}`,
  ];
  return lines.join('\n');
}

async function create(session: Session, options: RuleOptions): Promise<void> {
  const { signal } = session.shell;
  const body = {
    artifact_id: await artifactIdOf(session, options.artifact),
    metric_id: options.metric,
    name: options.name ?? `${options.metric} ${options.op} ${options.value}`,
    condition: { op: options.op, value: options.value },
    schedule: options.schedule,
    destination: destinationOf(options),
    ...(options.timezone !== undefined && { timezone: options.timezone }),
    ...(options.message !== undefined && { message: options.message }),
    ...(options.cooldown !== undefined && { cooldown_seconds: options.cooldown }),
    notify_recovery: options.notifyRecovery === true,
  };
  if (options.backtest !== true) {
    const rule = (await session.api.alerts.create({ body, signal })).body;
    session.answer(rule, `${ruleText(rule)}\n\nCreated ${rule.id}`);
    return;
  }
  const found = (await session.api.alerts.backtest({ body, signal })).body;
  const rows = found.events.map(({ at, value, fired }) => [timeText(at), String(value), fired ? 'fires' : 'recovers']);
  const head = `It would have fired ${countText(found.would_have_fired, 'time')} in ${countText(found.evaluations, 'evaluation')}.`;
  session.answer(found, rows.length === 0 ? head : `${head}\n\n${tableText(['WHEN', 'VALUE', ''], rows)}`);
}

function destinationOf({ email, webhook, secret, get }: RuleOptions): Destination {
  if ([email.length > 0, webhook !== undefined, get !== undefined].filter(Boolean).length > 1) {
    throw new CliFailure('usage', 'INVALID_USAGE', 'A rule tells one kind of destination.', 'Give one of --email, --webhook and --get.');
  }
  if (secret !== undefined && webhook === undefined) {
    throw new CliFailure('usage', 'INVALID_USAGE', 'Only a webhook has a secret.', 'Add --webhook <url>, or leave out --secret.');
  }
  if (email.length > 0) return { kind: 'email', config: { to: [...email] } };
  if (webhook !== undefined) return { kind: 'webhook', config: { url: webhook, ...(secret !== undefined && { secret }) } };
  return get === undefined ? { kind: 'bell', config: {} } : { kind: 'http_get', config: { url: get } };
}

async function show(session: Session, alertId: string): Promise<void> {
  const rule = (await session.api.alerts.get({ params: { alertId }, signal: session.shell.signal })).body;
  session.answer(rule, ruleText(rule));
}

async function turn(session: Session, alertId: string, enabled: boolean): Promise<void> {
  const rule = (await session.api.alerts.update({ params: { alertId }, body: { enabled }, signal: session.shell.signal })).body;
  session.answer(rule, `${lineOf(rule.name)} is switched ${enabled ? 'on' : 'off'}.`);
}

async function events(session: Session, alertId: string, options: { readonly limit: number; readonly fired?: boolean }): Promise<void> {
  const { items, hasMore } = await collect(options.limit, async (page) => {
    const query = { ...page, ...(options.fired && { fired: 'true' as const }) };
    const { body } = await session.api.alerts.events({ params: { alertId }, query, signal: session.shell.signal });
    return { items: body.events, next: body.next_cursor };
  });
  const rows = items.map(({ at, value, fired, recovered, delivered, error }) => [
    timeText(at),
    value === null ? '-' : String(value),
    fired ? 'fired' : recovered ? 'recovered' : '',
    delivered ? 'yes' : '',
    lineOf(error ?? ''),
  ]);
  const text = rows.length === 0 ? 'No evaluations yet.' : tableText(['WHEN', 'VALUE', '', 'DELIVERED', 'ERROR'], rows);
  session.answer({ events: items, has_more: hasMore }, text);
}

async function run(session: Session, alertId: string): Promise<void> {
  const ran = (await session.api.alerts.run({ params: { alertId }, signal: session.shell.signal })).body;
  const { value, fired, recovered, error } = ran.event;
  const what = error ?? (fired ? 'It fired.' : recovered ? 'It recovered.' : `It is ${ran.alert.state}.`);
  session.answer(ran, `The value is ${value ?? 'not there'}. ${lineOf(what)}`);
}

async function rehearse(session: Session, alertId: string): Promise<void> {
  const found = (await session.api.alerts.rehearse({ params: { alertId }, signal: session.shell.signal })).body;
  const { send, call, ring } = found.would;
  const lines = [
    `The value is ${found.value ?? 'not there'}. ${found.error ?? found.output}`,
    ...send.map(({ to, subject, text }) => `mail to ${to.join(', ')}: ${lineOf(subject)}\n${text}`),
    ...call.map(({ method, url, body }) => `${method} ${url}${body === null ? '' : `\n${body}`}`),
    ...ring.map(({ title, body }) => `bell: ${lineOf(title)}\n${body}`),
  ];
  session.answer(found, lines.join('\n\n'));
}

async function remove(session: Session, alertId: string): Promise<void> {
  const { body } = await session.api.alerts.delete({ params: { alertId }, signal: session.shell.signal });
  session.answer(body, 'Deleted.');
}

/** Names and answers of hosts are words of others. */
function lineOf(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');
}

const collected = (value: string, before: readonly string[]) => [...before, value];

export function addAlertCommands(program: Command, open: OpenSession): void {
  const group = program
    .command('alerts')
    .summary('alert rules, metrics and watches')
    .description(
      'Rules that compare a metric of a page on a schedule and tell when a condition begins to hold; and watches of its tables.',
    );
  addReadCommands(group, open);
  addRuleCommands(group, open);
  addMetricCommands(group, open);
  addWatchCommands(group, open);
}

const RULE = 'of the rule';

function addReadCommands(group: Command, open: OpenSession): void {
  group
    .command('list')
    .summary('list the rules of a page')
    .description('Lists the alert rules of a page, newest first.')
    .argument('[artifact]', 'slug, id or folder (default: the artifact of this folder)')
    .addOption(limitOption())
    .addHelpText('after', '\nExample:\n  easel alerts list my-site')
    .action(async (artifact, options, command) => list(await open(command), artifact, options));
  group
    .command('show')
    .summary('show a rule')
    .description('Shows a rule: what it compares, whom it tells, and its state.')
    .argument('<id>', RULE)
    .addHelpText('after', '\nExample:\n  easel alerts show alr_2xw5tz4ndh6b2crpyfk3vq7m')
    .action(async (id, _options, command) => show(await open(command), id));
  group
    .command('events')
    .summary('list the evaluations of a rule')
    .description('Lists the evaluations of a rule, newest first: the value, whether it fired, and what became of the delivery.')
    .argument('<id>', RULE)
    .option('--fired', 'only those that fired or recovered')
    .addOption(limitOption())
    .addHelpText('after', '\nExample:\n  easel alerts events alr_2xw5tz4ndh6b2crpyfk3vq7m --fired')
    .action(async (id, options, command) => events(await open(command), id, options));
}

function addRuleCommands(group: Command, open: OpenSession): void {
  group
    .command('create')
    .summary('create a rule, or test it first')
    .description(
      'Creates a rule. Without a destination it tells your bell. With --backtest it is not saved, but tested over the kept values.',
    )
    .addOption(artifactOption())
    .requiredOption('--metric <id>', 'what is compared; "easel alerts metrics" lists them')
    .addOption(new Option('--op <op>', 'how').choices(ALERT_OPS).makeOptionMandatory())
    .requiredOption('--value <number>', 'with what', Number)
    .option('--name <text>', 'default: the condition')
    .option('--schedule <cron>', 'when it is evaluated', '*/15 * * * *')
    .option('--timezone <name>', 'of the schedule (default: UTC)')
    .option('--email <address>', 'send a mail; once for each recipient', collected, [])
    .option('--webhook <url>', 'send a POST with JSON')
    .option('--secret <text>', 'that signs the webhook')
    .option('--get <url>', 'call this address')
    .option('--message <template>', 'what it says')
    .option('--cooldown <seconds>', 'how long it keeps still after an alert', Number)
    .option('--notify-recovery', 'also tell when the condition does not hold any more')
    .option('--backtest', 'do not save it: tell how often it would have fired')
    .addHelpText(
      'after',
      '\nExamples:\n  easel alerts create -a my-shop --metric open_orders --op gt --value 100\n  easel alerts create -a my-shop --metric open_orders --op gt --value 100 --backtest',
    )
    .action(async (options, command) => create(await open(command), options));
  const one = (name: string, summary: string, description: string, act: (session: Session, id: string) => Promise<void>) =>
    group
      .command(name)
      .summary(summary)
      .description(description)
      .argument('<id>', RULE)
      .addHelpText('after', `\nExample:\n  easel alerts ${name} alr_2xw5tz4ndh6b2crpyfk3vq7m`)
      .action(async (id, _options, command) => act(await open(command), id));
  one('run', 'evaluate a rule now', 'Evaluates a rule now, as when its schedule is due.', run);
  one('rehearse', 'show what a rule would send', 'Shows what a rule would send now. Nothing is sent.', rehearse);
  one('on', 'switch a rule on', 'Switches a rule on.', (session, id) => turn(session, id, true));
  one('off', 'switch a rule off', 'Switches a rule off; its history stays.', (session, id) => turn(session, id, false));
  one('delete', 'delete a rule', 'Deletes a rule with its history.', remove);
}
