/** agent-tokens (list, create, revoke), audit, approvals, approve. */
import { type Command, Option } from 'commander';
import { SCOPES, type Scope } from '../../../protocol/core/endpoint.ts';
import { artifactIdOf } from './artifact-name.ts';
import { CliFailure } from './failures.ts';
import { collect, limitOption } from './paging.ts';
import type { OpenSession, Session } from './session.ts';
import { tableText, timeText } from './text.ts';

const WORKSPACE = ['<workspace>', 'slug or id'] as const;

async function list(session: Session, workspaceId: string, options: { limit: number }): Promise<void> {
  const { signal } = session.shell;
  const { items, hasMore } = await collect(options.limit, async (query) => {
    const { body } = await session.api.agentTokens.list({ params: { workspaceId }, query, signal });
    return { items: body.agent_tokens, next: body.next_cursor };
  });
  const time = (at: string | null, none: string) => (at === null ? none : timeText(at));
  const rows = items.map((token) => [
    ...[token.name, token.scopes.join(' '), time(token.last_used_at, 'never'), time(token.expires_at, 'never')],
    ...[token.created_by?.name ?? token.created_by?.id ?? '-', token.id],
  ]);
  const head = ['NAME', 'SCOPES', 'LAST USED', 'EXPIRES', 'MADE BY', 'ID'];
  session.answer({ agent_tokens: items, has_more: hasMore }, rows.length === 0 ? 'There are no agent tokens.' : tableText(head, rows));
  if (hasMore) session.remark(`There are more: easel agent-tokens list ${workspaceId} --limit ${options.limit * 2}`);
}

async function create(session: Session, workspaceId: string, name: string, options: { scope: Scope[]; expires?: string }): Promise<void> {
  const body = { name, scopes: options.scope, ...(options.expires !== undefined && { expires_at: options.expires }) };
  const made = (await session.api.agentTokens.create({ params: { workspaceId }, body, signal: session.shell.signal })).body;
  session.answer(made, `${made.token}\nThis is the token of ${made.name}. It is shown this once.`);
}

async function revoke(session: Session, workspaceId: string, tokenId: string): Promise<void> {
  const done = (await session.api.agentTokens.revoke({ params: { workspaceId, tokenId }, signal: session.shell.signal })).body;
  session.answer(done, 'Revoked. What the agent has made stays.');
}

interface AuditOptions {
  readonly limit: number;
  readonly action?: string;
  readonly actor?: string;
  readonly from?: string;
  readonly to?: string;
}

async function audit(session: Session, workspaceId: string, { limit: most, ...filter }: AuditOptions): Promise<void> {
  const { signal } = session.shell;
  const { items, hasMore } = await collect(most, async (query) => {
    const { body } = await session.api.audit.list({ params: { workspaceId }, query: { ...query, ...filter }, signal });
    if (body instanceof Uint8Array || typeof body === 'string') throw new Error('the server answered with a CSV that nobody asked for');
    return { items: body.entries, next: body.next_cursor };
  });
  const rows = items.map(({ at, actor, action, target, address }) => [
    ...[timeText(at), actor.name ?? actor.id ?? actor.kind, action, `${target.type} ${target.name ?? target.id ?? ''}`.trim()],
    address ?? '-',
  ]);
  session.answer({ entries: items, has_more: hasMore }, tableText(['AT', 'WHO', 'ACTION', 'ON', 'FROM'], rows));
  if (hasMore) session.remark(`There are more: easel audit ${workspaceId} --limit ${most * 2}`);
}

function versionOf(text: string): string {
  if (/^v?[1-9][0-9]{0,8}$/.test(text)) return text.replace('v', '');
  if (text.startsWith('ver_')) return text;
  throw new CliFailure('usage', 'INVALID_VERSION', `"${text}" is not a version number.`, 'Give its number, for example 3.');
}

async function approve(
  session: Session,
  text: string,
  name: string | undefined,
  options: { makeLive?: boolean; undo?: boolean },
): Promise<void> {
  const version = versionOf(text);
  const { signal } = session.shell;
  const params = { id: await artifactIdOf(session, name), version };
  if (options.undo) {
    const state = (await session.api.reviews.withdraw({ params, signal })).body;
    return session.answer(state, `Took back the approval of version ${version}.`);
  }
  const body = { make_live: options.makeLive ?? false };
  const state = (await session.api.reviews.approve({ params, body, signal })).body;
  session.answer(
    state,
    `Approved version ${version}. Live: ${state.live_version_no === null ? 'nothing yet' : `version ${state.live_version_no}`}.`,
  );
}

async function approvals(session: Session, workspaceId: string, options: { limit: number }): Promise<void> {
  const { signal } = session.shell;
  const { items, hasMore } = await collect(options.limit, async (query) => {
    const { body } = await session.api.publishPolicy.waiting({ params: { workspaceId }, query, signal });
    return { items: body.waiting, next: body.next_cursor };
  });
  const rows = items.map((one) => [
    ...[one.artifact.slug, String(one.version_no), timeText(one.waiting_since), one.author?.name ?? one.author?.id ?? 'an agent'],
    `${one.approved_by.length} of ${one.approvals_required}`,
  ]);
  const head = ['ARTIFACT', 'NO', 'WAITS SINCE', 'BY', 'APPROVED'];
  session.answer({ waiting: items, has_more: hasMore }, rows.length === 0 ? 'Nothing waits for approval.' : tableText(head, rows));
  if (hasMore) session.remark(`There are more: easel approvals ${workspaceId} --limit ${options.limit * 2}`);
}

export function addAgentCommands(program: Command, open: OpenSession): void {
  program.commandsGroup('Workspaces');
  const tokens = program
    .command('agent-tokens')
    .summary('tokens of the agents of a workspace')
    .description('Lists, makes and revokes the tokens of agents.');
  tokens
    .command('list')
    .description('Lists the tokens of the agents, newest first.')
    .argument(...WORKSPACE)
    .addOption(limitOption())
    .addHelpText('after', '\nExample:\n  easel agent-tokens list maps')
    .action(async (workspace, options, command) => list(await open(command), workspace, options));
  tokens
    .command('create')
    .description('Makes an agent and its token, which is shown this once.')
    .argument(...WORKSPACE)
    .argument('<name>', 'what the agent is called')
    .addOption(new Option('--scope <scope...>', 'what it may do').choices(SCOPES).makeOptionMandatory())
    .option('--expires <time>', 'when the token ends, for example 2027-01-31T00:00:00Z')
    .addHelpText('after', '\nExample:\n  easel agent-tokens create maps "Nightly report" --scope artifacts:read data:write')
    .action(async (workspace, name, options, command) => create(await open(command), workspace, name, options));
  tokens
    .command('revoke')
    .description('Revokes a token at once. What the agent has made stays.')
    .argument(...WORKSPACE)
    .argument('<token-id>', 'the id that the list shows')
    .addHelpText('after', '\nExample:\n  easel agent-tokens revoke maps tok_z4ndh6b2crpyfk3vq7m2xw5t')
    .action(async (workspace, id, _options, command) => revoke(await open(command), workspace, id));
  program
    .command('audit')
    .summary('what was done in a workspace')
    .description('Lists what was done in a workspace, newest first.')
    .argument(...WORKSPACE)
    .addOption(limitOption())
    .option('--action <action>', 'one action, or a resource with a dot: agent_token.')
    .option('--actor <id>', 'what this person or agent has done')
    .option('--from <time>', 'not before this time')
    .option('--to <time>', 'before this time')
    .addHelpText('after', '\nExamples:\n  easel audit maps\n  easel audit maps --action member. --from 2026-11-01T00:00:00Z')
    .action(async (workspace, options, command) => audit(await open(command), workspace, options));
  program
    .command('approvals')
    .summary('versions that wait for approval')
    .description('Lists the versions of a workspace that wait for approval.')
    .argument(...WORKSPACE)
    .addOption(limitOption())
    .addHelpText('after', '\nExample:\n  easel approvals maps')
    .action(async (workspace, options, command) => approvals(await open(command), workspace, options));
  program
    .command('approve')
    .summary('approve a version that waits')
    .description('Approves a version. The last approval that it needs publishes it.')
    .argument('<version>', 'the number of the version, for example 3')
    .argument('[artifact]', 'slug, id or folder (default: the artifact of this folder)')
    .option('--make-live', 'once approved, make it live also in place of a newer version')
    .option('--undo', 'take an approval back')
    .addHelpText('after', '\nExamples:\n  easel approve 3 my-site\n  easel approve 3 my-site --undo')
    .action(async (version, artifact, options, command) => approve(await open(command), version, artifact, options));
}
