/** billing: plans, show, invoices, methods, subscribe, change, cancel, resume, card. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type PlanId, planId } from '../../../protocol/business/billing-plans.ts';
import { LIMITS } from '../../../protocol/core/limits.ts';
import { ApiError } from '../sdk/client.ts';
import { CliFailure } from './failures.ts';
import { collect, limitOption } from './paging.ts';
import type { OpenSession, Session } from './session.ts';
import { bytesText, countText, tableText, timeText } from './text.ts';
import { workspaceIdOf } from './workspace-id.ts';

type Billing = Session['api']['billing'];
type Subscription = Awaited<ReturnType<Billing['subscription']>>['body'];
type Over = Awaited<ReturnType<Session['api']['plans']['get']>>['body']['over'][number];

function moneyText(cents: number, currency: string): string {
  return `${(cents / 100).toFixed(2)} ${currency.toUpperCase()}`;
}

async function plans(session: Session): Promise<void> {
  const { body } = await session.api.billing.plans({ signal: session.shell.signal });
  const rows = body.plans.map(({ id, price_cents, currency, interval, per_seat, trial_days, features }) => {
    const price = `${moneyText(price_cents, currency)} a ${interval}${per_seat ? ' and seat' : ''}`;
    return [id, price, countText(trial_days, 'day'), features.join(', ')];
  });
  session.answer(body, tableText(['PLAN', 'PRICE', 'TRIAL', 'HAS BEYOND THE FREE PLAN'], rows));
}

/** Null where the workspace never had one. */
async function subscriptionOf(session: Session, workspaceId: string): Promise<Subscription | null> {
  try {
    return (await session.api.billing.subscription({ query: { workspace_id: workspaceId }, signal: session.shell.signal })).body;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'SUBSCRIPTION_NOT_FOUND') return null;
    throw error;
  }
}

function subscriptionText(subscription: Subscription): string {
  const { status, plan, seats, trial_ends_at, period_ends_at, cancel_at_period_end, pending, ends_at, action_url, has_card } = subscription;
  const lines = [
    `${plan}, ${countText(seats, 'seat')}: ${status}`,
    ...(status === 'trialing' && trial_ends_at !== null ? [`  trial ends    ${timeText(trial_ends_at)}`] : []),
    ...(status === 'active' && !cancel_at_period_end && period_ends_at !== null ? [`  next payment  ${timeText(period_ends_at)}`] : []),
    ...(pending === null ? [] : [`  becomes       ${pending.plan}, ${countText(pending.seats, 'seat')}, ${timeText(pending.at)}`]),
    ...(ends_at === null ? [] : [`  ${status === 'canceled' ? 'ended       ' : 'ends        '}  ${timeText(ends_at)}`]),
    ...(status === 'canceled' ? [] : [`  card          ${has_card ? 'saved' : 'none'}`]),
    ...(action_url === null ? [] : [`  confirm at    ${action_url}`]),
  ];
  return lines.join('\n');
}

function overText({ name, used, max, message }: Over): string {
  const [has, allowed] = name === 'bytes' ? [bytesText(used), bytesText(max)] : [used, max];
  return `  over          ${name}: ${has} of ${allowed}. ${message}`;
}

async function show(session: Session, workspace: string): Promise<void> {
  const { body: plan } = await session.api.plans.get({ params: { workspaceId: workspace }, signal: session.shell.signal });
  const subscription = await subscriptionOf(session, await workspaceIdOf(session, workspace));
  const { in_force, allowances, usage, over } = plan;
  const lines = [
    `${workspace} has the plan ${in_force}.`,
    `  storage       ${bytesText(usage.bytes)} of ${bytesText(allowances.bytes)}`,
    `  artifacts     ${usage.artifacts} of ${allowances.artifacts}`,
    `  members       ${usage.members} of ${allowances.members}`,
    ...over.map(overText),
    subscription === null ? 'Nothing is paid for it.' : subscriptionText(subscription),
  ];
  session.answer({ plan, subscription }, lines.join('\n'));
}

async function invoices(session: Session, workspace: string, { limit }: { limit: number }): Promise<void> {
  const workspace_id = await workspaceIdOf(session, workspace);
  const { items, hasMore } = await collect(limit, async (page) => {
    const { body } = await session.api.billing.invoices({ query: { workspace_id, ...page }, signal: session.shell.signal });
    return { items: body.invoices, next: body.next_cursor };
  });
  const rows = items.map(({ number, status, amount_cents, currency, created_at, pdf_url }) => {
    return [number ?? '-', status, moneyText(amount_cents, currency), timeText(created_at), pdf_url ?? '-'];
  });
  const text = rows.length === 0 ? 'There are no invoices.' : tableText(['NUMBER', 'STATUS', 'AMOUNT', 'MADE', 'PAGE'], rows);
  session.answer({ invoices: items, has_more: hasMore }, text);
}

async function methods(session: Session, workspace: string, { limit }: { limit: number }): Promise<void> {
  const workspace_id = await workspaceIdOf(session, workspace);
  const { items, hasMore } = await collect(limit, async (page) => {
    const { body } = await session.api.billing.paymentMethods({ query: { workspace_id, ...page }, signal: session.shell.signal });
    return { items: body.payment_methods, next: body.next_cursor };
  });
  const rows = items.map(({ id, brand, last4, exp_month, exp_year, is_default }) => {
    return [id, `${brand} ${last4}`, `${String(exp_month).padStart(2, '0')}/${exp_year}`, is_default ? 'yes' : 'no'];
  });
  const none = `No card is saved. Save one: easel billing card ${workspace}`;
  session.answer(
    { payment_methods: items, has_more: hasMore },
    rows.length === 0 ? none : tableText(['ID', 'CARD', 'VALID UNTIL', 'PAYS'], rows),
  );
}

/** What a person has to do next, where something waits for one. */
function remarkNext(session: Session, workspace: string, { status, has_card, action_url }: Subscription): void {
  if (action_url !== null) session.remark(`Your bank asks you to confirm the payment: ${action_url}`);
  else if (status === 'incomplete' && !has_card) session.remark(`It begins when a card has paid: easel billing card ${workspace}`);
  else if (status === 'trialing' && !has_card) session.remark(`Without a card it ends with the trial: easel billing card ${workspace}`);
}

interface SeatsOption {
  readonly seats?: number;
}

async function subscribe(session: Session, workspace: string, plan: PlanId, { seats }: SeatsOption): Promise<void> {
  const body = { workspace_id: await workspaceIdOf(session, workspace), plan_id: plan, ...(seats !== undefined && { seats }) };
  const made = (await session.api.billing.subscribe({ body, signal: session.shell.signal })).body;
  session.answer(made, subscriptionText(made));
  remarkNext(session, workspace, made);
}

async function change(session: Session, workspace: string, { plan, seats }: SeatsOption & { readonly plan?: PlanId }): Promise<void> {
  if (plan === undefined && seats === undefined) {
    throw new CliFailure('usage', 'INVALID_USAGE', 'Nothing was said that shall change.', 'Add --plan, --seats or both.');
  }
  const wanted = { ...(plan !== undefined && { plan_id: plan }), ...(seats !== undefined && { seats }) };
  const body = { workspace_id: await workspaceIdOf(session, workspace), ...wanted };
  const changed = (await session.api.billing.update({ body, signal: session.shell.signal })).body;
  session.answer(changed, subscriptionText(changed));
  remarkNext(session, workspace, changed);
}

async function cancel(session: Session, workspace: string, { now, yes }: { now?: true; yes?: true }): Promise<void> {
  if (now && !yes) {
    const message = `This ends the plan of ${workspace} at once, and nothing is paid back.`;
    throw new CliFailure('usage', 'CONFIRM', message, 'Add --yes, or leave out --now: it ends when what is paid is used up.');
  }
  const body = { workspace_id: await workspaceIdOf(session, workspace), at: now ? ('now' as const) : ('period_end' as const) };
  const canceled = (await session.api.billing.cancel({ body, signal: session.shell.signal })).body;
  session.answer(canceled, subscriptionText(canceled));
  if (canceled.cancel_at_period_end) session.remark(`You can take it back until then: easel billing resume ${workspace}`);
}

async function resume(session: Session, workspace: string): Promise<void> {
  const body = { workspace_id: await workspaceIdOf(session, workspace) };
  const resumed = (await session.api.billing.resume({ body, signal: session.shell.signal })).body;
  session.answer(resumed, subscriptionText(resumed));
}

async function card(session: Session, workspace: string): Promise<void> {
  const body = { workspace_id: await workspaceIdOf(session, workspace) };
  const made = (await session.api.billing.checkoutSaveCard({ body, signal: session.shell.signal })).body;
  session.answer(made, made.checkout_url);
  session.remark('Open this address in a browser in which you are signed in here. Its way back takes the card.');
}

const WORKSPACE = ['<workspace>', 'slug or id'] as const;
const example = (line: string) => `\nExample:\n  easel billing ${line}`;

function seatsOption(): Option {
  return new Option('--seats <n>', 'at least one for each member').argParser((text) => {
    const seats = Number(text);
    if (!Number.isInteger(seats) || seats < 1 || seats > LIMITS.seatsMax)
      throw new InvalidArgumentError(`It must be a whole number from 1 to ${LIMITS.seatsMax}.`);
    return seats;
  });
}

/** Checked here, so that what is wrong is told with the plans that there are. */
function planOf(text: string): PlanId {
  const parsed = planId.safeParse(text);
  if (!parsed.success) throw new InvalidArgumentError(`It must be one of ${planId.options.join(', ')}.`);
  return parsed.data;
}

export function addBillingCommands(program: Command, open: OpenSession): void {
  program.commandsGroup('Workspaces');
  const group = program
    .command('billing')
    .summary('plans and what is paid for them')
    .description('Shows and changes what a workspace pays, for its owners, admins and billing managers.');
  addReadCommands(group, open);
  addChangeCommands(group, open);
}

function addReadCommands(group: Command, open: OpenSession): void {
  group
    .command('plans')
    .summary('list plans')
    .description('Lists the plans that a workspace can buy.')
    .addHelpText('after', example('plans'))
    .action(async (_options, command) => plans(await open(command)));
  group
    .command('show')
    .summary('show the plan of a workspace')
    .description('Shows the plan of a workspace, what is used of it, what is over it, and how it is paid.')
    .argument(...WORKSPACE)
    .addHelpText('after', example('show maps'))
    .action(async (workspace, _options, command) => show(await open(command), workspace));
  group
    .command('invoices')
    .summary('list invoices')
    .description('Lists the invoices of a workspace, newest first, each with the address of its page.')
    .argument(...WORKSPACE)
    .addOption(limitOption())
    .addHelpText('after', example('invoices maps'))
    .action(async (workspace, options, command) => invoices(await open(command), workspace, options));
  group
    .command('methods')
    .summary('list cards')
    .description('Lists the cards of a workspace, newest first.')
    .argument(...WORKSPACE)
    .addOption(limitOption())
    .addHelpText('after', example('methods maps'))
    .action(async (workspace, options, command) => methods(await open(command), workspace, options));
}

function addChangeCommands(group: Command, open: OpenSession): void {
  group
    .command('subscribe')
    .summary('start a plan')
    .description('Begins a plan. The first one of a workspace and of a person begins with a trial that needs no card.')
    .argument(...WORKSPACE)
    .argument('<plan>', 'as "easel billing plans" lists it', planOf)
    .addOption(seatsOption())
    .addHelpText('after', example('subscribe maps team_monthly --seats 5'))
    .action(async (workspace, plan, options, command) => subscribe(await open(command), workspace, plan, options));
  group
    .command('change')
    .summary('change plan or seats')
    .description('Changes plan or seats. More is there at once and paid in proportion; less comes with the next period.')
    .argument(...WORKSPACE)
    .addOption(new Option('--plan <plan>', 'as "easel billing plans" lists it').argParser(planOf))
    .addOption(seatsOption())
    .addHelpText('after', example('change maps --plan team_yearly --seats 8'))
    .action(async (workspace, options, command) => change(await open(command), workspace, options));
  group
    .command('cancel')
    .summary('end a plan')
    .description('Ends a plan when what is paid is used up, or now. Nothing is deleted, and nothing is paid back.')
    .argument(...WORKSPACE)
    .option('--now', 'at once')
    .option('--yes', 'really, with --now')
    .addHelpText('after', example('cancel maps'))
    .action(async (workspace, options, command) => cancel(await open(command), workspace, options));
  group
    .command('resume')
    .summary('go on with a plan')
    .description('Takes back a cancellation that has not happened yet, and a change that comes with the next period.')
    .argument(...WORKSPACE)
    .addHelpText('after', example('resume maps'))
    .action(async (workspace, _options, command) => resume(await open(command), workspace));
  group
    .command('card')
    .summary('save a card in the browser')
    .description('Prints the address of a page of the payment provider on which a card is saved. Card numbers never come here.')
    .argument(...WORKSPACE)
    .addHelpText('after', example('card maps'))
    .action(async (workspace, _options, command) => card(await open(command), workspace));
}
