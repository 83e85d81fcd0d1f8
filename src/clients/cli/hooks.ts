/** hooks: list, create, show, update, delete, rotate, test, deliveries, delivery, redeliver. */
import { type Command, Option } from 'commander';
import type { z } from 'zod';
import { type WebhookEvent, type webhookDeliveryStatus, webhookEvent } from '../../../protocol/automation/webhooks.ts';
import { artifactIdOf, artifactOption } from './artifact-name.ts';
import { CliFailure } from './failures.ts';
import { collect, limitOption } from './paging.ts';
import type { OpenSession, Session } from './session.ts';
import { tableText, timeText } from './text.ts';

type Webhooks = Session['api']['webhooks'];
type Webhook = Awaited<ReturnType<Webhooks['get']>>['body'];
type Delivery = Awaited<ReturnType<Webhooks['delivery']>>['body'];

interface Of {
  readonly artifact?: string;
  readonly workspace?: string;
}

/** The workspace that is named, else the artifact. */
async function watched(session: Session, { artifact, workspace }: Of): Promise<{ workspace_id: string } | { artifact_id: string }> {
  if (workspace === undefined) return { artifact_id: await artifactIdOf(session, artifact) };
  const { signal } = session.shell;
  const { body } = await session.api.workspaces.get({ params: { workspaceId: workspace }, signal });
  return { workspace_id: body.id };
}

function stateOf({ enabled, disabled_reason, failing_since }: Webhook): string {
  if (!enabled) return `off (${disabled_reason ?? 'off'})`;
  return failing_since === null ? 'on' : `fails since ${timeText(failing_since)}`;
}

function textOf(hook: Webhook): string {
  const lines = [
    `${hook.id}  ${stateOf(hook)}`,
    `  to      ${hook.url}`,
    `  events  ${hook.events.join(' ')}`,
    ...(hook.description === '' ? [] : [`  for     ${hook.description}`]),
    ...(hook.next_try_at === null ? [] : [`  next    ${timeText(hook.next_try_at)}`]),
    ...(hook.old_secret_until === null ? [] : [`  the old secret signs too until ${timeText(hook.old_secret_until)}`]),
  ];
  return lines.join('\n');
}

async function list(session: Session, options: Of & { readonly limit: number; readonly mine?: boolean }): Promise<void> {
  const { signal } = session.shell;
  const of = options.mine ? {} : await watched(session, options);
  const { items, hasMore } = await collect(options.limit, async (query) => {
    const { body } = await session.api.webhooks.list({ query: { ...query, ...of }, signal });
    return { items: body.webhooks, next: body.next_cursor };
  });
  const rows = items.map((hook) => [hook.id, stateOf(hook), hook.events.join(' '), hook.url]);
  const text = rows.length === 0 ? 'There are no webhooks.' : tableText(['ID', 'STATE', 'EVENTS', 'URL'], rows);
  session.answer({ webhooks: items, has_more: hasMore }, text);
}

async function create(session: Session, url: string, options: Of & { event: WebhookEvent[]; description?: string }): Promise<void> {
  const of = await watched(session, options);
  const body = { url, events: options.event, ...of, ...(options.description !== undefined && { description: options.description }) };
  const made = (await session.api.webhooks.create({ body, signal: session.shell.signal })).body;
  session.answer(made, `${textOf(made.webhook)}\n\n${made.secret}\nThis is the secret that signs its deliveries. It is shown this once.`);
}

async function show(session: Session, webhookId: string): Promise<void> {
  const { body } = await session.api.webhooks.get({ params: { webhookId }, signal: session.shell.signal });
  session.answer(body, textOf(body));
}

interface Changes {
  readonly url?: string;
  readonly event?: WebhookEvent[];
  readonly description?: string;
  readonly on?: boolean;
  readonly off?: boolean;
}

async function update(session: Session, webhookId: string, { event: events, on, off, ...rest }: Changes): Promise<void> {
  const switched = on ? { enabled: true } : off ? { enabled: false } : {};
  const body = { ...rest, ...(events !== undefined && { events }), ...switched };
  if (Object.keys(body).length === 0) {
    throw new CliFailure('usage', 'INVALID_USAGE', 'Nothing is to be changed.', 'Give --url, --event, --description, --on or --off.');
  }
  const changed = (await session.api.webhooks.update({ params: { webhookId }, body, signal: session.shell.signal })).body;
  session.answer(changed, textOf(changed));
}

async function remove(session: Session, webhookId: string): Promise<void> {
  const { body } = await session.api.webhooks.delete({ params: { webhookId }, signal: session.shell.signal });
  session.answer(body, 'Deleted, with its deliveries.');
}

async function rotate(session: Session, webhookId: string): Promise<void> {
  const { body } = await session.api.webhooks.rotate({ params: { webhookId }, signal: session.shell.signal });
  session.answer(body, `${body.secret}\nThis is the new secret. It is shown this once. The old one signs too for 24 hours.`);
}

async function test(session: Session, webhookId: string): Promise<void> {
  const { body } = await session.api.webhooks.test({ params: { webhookId }, signal: session.shell.signal });
  session.answer(body, deliveryText(body));
}

interface DeliveriesOptions {
  readonly limit: number;
  readonly status?: z.infer<typeof webhookDeliveryStatus>;
}

async function deliveries(session: Session, webhookId: string, { limit, status }: DeliveriesOptions): Promise<void> {
  const { signal } = session.shell;
  const { items, hasMore } = await collect(limit, async (query) => {
    const { body } = await session.api.webhooks.deliveries({ params: { webhookId }, query: { ...query, status }, signal });
    return { items: body.deliveries, next: body.next_cursor };
  });
  const rows = items.map((one) => [
    ...[String(one.number), timeText(one.created_at), one.event, one.status, String(one.tries), String(one.response_status ?? '-')],
    one.id,
  ]);
  const head = ['NO', 'AT', 'EVENT', 'STATUS', 'TRIES', 'ANSWER', 'ID'];
  session.answer({ deliveries: items, has_more: hasMore }, rows.length === 0 ? 'There are no deliveries.' : tableText(head, rows));
  if (hasMore) session.remark(`There are more: easel hooks deliveries ${webhookId} --limit ${limit * 2}`);
}

function deliveryText(one: Delivery): string {
  const tries = one.attempts.map(({ number, at, duration_ms, response_status, error, response_body }) => {
    const said = response_body === '' ? '' : `\n    ${response_body.slice(0, 500).replaceAll('\n', '\n    ')}`;
    return `  try ${number}  ${timeText(at)}  ${duration_ms} ms  ${error ?? `taken with ${response_status}`}${said}`;
  });
  return [`${one.id}  number ${one.number}  ${one.event}  ${one.status}`, `  ${one.request_body}`, ...tries].join('\n');
}

async function delivery(session: Session, webhookId: string, deliveryId: string): Promise<void> {
  const { body } = await session.api.webhooks.delivery({ params: { webhookId, deliveryId }, signal: session.shell.signal });
  session.answer(body, deliveryText(body));
}

async function redeliver(session: Session, webhookId: string, deliveryId: string): Promise<void> {
  const { body } = await session.api.webhooks.redeliver({ params: { webhookId, deliveryId }, signal: session.shell.signal });
  session.answer(body, `Number ${body.number} is sent again.`);
}

const HOOK = ['<hook>', 'the id that the list shows'] as const;
const DELIVERY = ['<delivery>', 'the id that the deliveries show'] as const;
const EXAMPLE_HOOK = 'whk_q7m2xw5tz4ndh6b2crpyfk3v';
const EXAMPLE_DELIVERY = 'dlv_2xw5tz4ndh6b2crpyfk3vq7m';

const example = (line: string) => `\nExample:\n  easel hooks ${line}`;
const workspaceOption = () => new Option('-w, --workspace <slug|id>', 'the webhooks of a workspace instead');
const eventOption = () => new Option('--event <event...>', 'what is sent').choices(webhookEvent.options);

export function addHookCommands(program: Command, open: OpenSession): void {
  program.commandsGroup('Automation');
  const group = program
    .command('hooks')
    .summary('webhooks: events sent to other services')
    .description('Manages the webhooks of an artifact, or with --workspace of a workspace.');
  group
    .command('list')
    .summary('list webhooks')
    .description('Lists the webhooks of an artifact or a workspace, newest first.')
    .addOption(artifactOption())
    .addOption(workspaceOption())
    .option('--mine', 'those that you stand for, of any artifact and workspace')
    .addOption(limitOption())
    .addHelpText('after', '\nExamples:\n  easel hooks list -a my-site\n  easel hooks list --workspace maps')
    .action(async (options, command) => list(await open(command), options));
  group
    .command('create')
    .summary('have events sent to an https URL')
    .description('Has events sent to an https URL from now on. The secret that signs them is shown this once.')
    .argument('<url>', 'begins with https://')
    .addOption(eventOption().makeOptionMandatory())
    .addOption(artifactOption())
    .addOption(workspaceOption())
    .option('--description <text>', 'what it is for')
    .addHelpText('after', example('create https://hooks.example.com/easel -a my-site --event data.changed comment.added'))
    .action(async (url, options, command) => create(await open(command), url, options));
  group
    .command('show')
    .summary('show a webhook')
    .description('Shows a webhook without its secret.')
    .argument(...HOOK)
    .addHelpText('after', example(`show ${EXAMPLE_HOOK}`))
    .action(async (hook, _options, command) => show(await open(command), hook));
  group
    .command('update')
    .summary('change a webhook, turn it on or off')
    .description('Changes a webhook. Turned off, it misses what happens.')
    .argument(...HOOK)
    .option('--url <url>', 'another https URL')
    .addOption(eventOption())
    .option('--description <text>', 'what it is for')
    .option('--on', 'turn it on')
    .option('--off', 'turn it off')
    .addHelpText('after', example(`update ${EXAMPLE_HOOK} --on`))
    .action(async (hook, options, command) => update(await open(command), hook, options));
  group
    .command('delete')
    .summary('delete a webhook')
    .description('Deletes a webhook with all its deliveries.')
    .argument(...HOOK)
    .addHelpText('after', example(`delete ${EXAMPLE_HOOK}`))
    .action(async (hook, _options, command) => remove(await open(command), hook));
  addDeliveryCommands(group, open);
}

function addDeliveryCommands(group: Command, open: OpenSession): void {
  group
    .command('rotate')
    .summary('make a new secret')
    .description('Makes a new secret, shown this once. For 24 hours both sign.')
    .argument(...HOOK)
    .addHelpText('after', example(`rotate ${EXAMPLE_HOOK}`))
    .action(async (hook, _options, command) => rotate(await open(command), hook));
  group
    .command('test')
    .summary('send a test and show the answer')
    .description('Sends a delivery of the event webhook.test now, and shows what the host answered.')
    .argument(...HOOK)
    .addHelpText('after', example(`test ${EXAMPLE_HOOK}`))
    .action(async (hook, _options, command) => test(await open(command), hook));
  group
    .command('deliveries')
    .summary('list what was sent')
    .description('Lists the deliveries of a webhook, newest first.')
    .argument(...HOOK)
    .addOption(new Option('--status <status>', 'only these').choices(['pending', 'delivered', 'failed']))
    .addOption(limitOption())
    .addHelpText('after', example(`deliveries ${EXAMPLE_HOOK} --status failed`))
    .action(async (hook, options, command) => deliveries(await open(command), hook, options));
  group
    .command('delivery')
    .summary('show a delivery with its tries')
    .description('Shows what is sent, and what was answered to each try.')
    .argument(...HOOK)
    .argument(...DELIVERY)
    .addHelpText('after', example(`delivery ${EXAMPLE_HOOK} ${EXAMPLE_DELIVERY}`))
    .action(async (hook, id, _options, command) => delivery(await open(command), hook, id));
  group
    .command('redeliver')
    .summary('send a delivery again')
    .description('Sends a delivery again as soon as possible, with the same id, number and body.')
    .argument(...HOOK)
    .argument(...DELIVERY)
    .addHelpText('after', example(`redeliver ${EXAMPLE_HOOK} ${EXAMPLE_DELIVERY}`))
    .action(async (hook, id, _options, command) => redeliver(await open(command), hook, id));
}
