/** The endpoints of questions. */
import { decide, type Role } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { PAGE_ASK_LIMITS } from '../../../../protocol/core/rate-limits.ts';
import type { Endpoints } from '../../../../protocol/table.ts';
import { networkOf } from '../../../edge/address.ts';
import type { BaseCall, Call, Handlers } from '../../../edge/call.ts';
import { requireAccepted } from '../../../edge/limits.ts';
import { localeOf } from '../../../mail/templates/message.ts';
import type { InstanceSettings } from '../../business/instance/settings.ts';
import { callHolders, readHolders } from '../../data/tables/reads.ts';
import type { ModuleDeps } from '../../module.ts';
import { memberOf } from '../../workspaces/folders/places.ts';
import type { WorkspaceDirectory } from '../../workspaces/workspaces/directory.ts';
import { readerOf } from '../search/reader.ts';
import type { Answering, Asked } from './answering.ts';
import { earlierQuestion } from './earlier.ts';
import type { OpenAnswers, Wanted } from './open-answers.ts';
import { type RetrievalDeps, sourcesOfPage } from './retrieval.ts';
import { readPageFacts } from './rows.ts';
import { sourceOf } from './sources.ts';

export interface AskDeps extends Pick<ModuleDeps, 'sql' | 'limiters'>, RetrievalDeps {
  readonly workspaces: WorkspaceDirectory;
  readonly answering: Answering;
  readonly open: OpenAnswers;
  readonly flags: Pick<InstanceSettings, 'require'>;
}

/** Tells proxies such as nginx not to buffer the stream. */
const STREAM = { reply: 'stream', body: '', type: 'text/event-stream', headers: { 'X-Accel-Buffering': 'no' } } as const;

export function askHandlers(deps: AskDeps): Handlers<'ask.ask' | 'ask.agent'> {
  return {
    'ask.ask': async (call) => {
      await deps.flags.require('ask');
      const wanted = await ofAll(deps, call);
      if (wantsEvents(call)) return { ...STREAM, stream: deps.open.stream(wanted) };
      return { reply: 'ok', body: await deps.open.whole(wanted) };
    },
    'ask.agent': async (call) => {
      await deps.flags.require('ask');
      const wanted = await ofPage(deps, call);
      if (wantsEvents(call)) return { ...STREAM, stream: deps.open.stream(wanted) };
      return { reply: 'ok', body: { success: true, data: await deps.open.whole(wanted) } };
    },
  };
}

function wantsEvents({ accept }: Pick<BaseCall, 'accept'>): boolean {
  return accept.includes('text/event-stream');
}

async function ofAll({ workspaces, passages, answering }: AskDeps, call: Call<Endpoints['ask.ask']>): Promise<Wanted> {
  const { principal, body } = call;
  const workspaceId = body.workspace === undefined ? undefined : await memberOf(workspaces, principal, body.workspace, 'workspace');
  const { question } = body;
  const holders = callHolders(call);
  const found = await passages(readerOf(principal), { question, workspaceId, limit: LIMITS.askPassagesMax }, holders, call.ended);
  return wantedFor(answering, call, { question, history: [], sources: found.map(sourceOf), others: [], holders });
}

/** Throws FORBIDDEN, RATE_LIMITED. */
async function ofPage(deps: AskDeps, call: Call<Endpoints['ask.agent']>): Promise<Wanted> {
  const { head, principal, body, role } = call;
  const facts = await readPageFacts(deps.sql, head.id);
  if (facts === null) throw new Failure('ARTIFACT_NOT_FOUND');
  if (role === 'none' && !facts.allow_anon_agent) {
    throw new Failure('FORBIDDEN', { message: 'This page answers no questions of visitors.', hint: 'Its owner can set allow_anon_agent.' });
  }
  await spend(deps, call, role);
  const { question } = body;
  const history = body.history ?? [];
  const holders = readHolders(head.id, call);
  const found = await sourcesOfPage(deps, {
    page: { artifactId: head.id, title: facts.name, slug: facts.slug },
    reader: readerOf(principal),
    question,
    earlier: earlierQuestion(question, history),
    withDocuments: decide(head, principal, 'collab:read', 'data:read') === 'allowed',
    holders,
    ended: call.ended,
  });
  return wantedFor(deps.answering, call, { question, history, ...found, holders });
}

/** One asker may not take the questions of all others, and visitors not what the page's owner pays for. */
async function spend({ limiters }: AskDeps, call: Call<Endpoints['ask.agent']>, role: Role): Promise<void> {
  const { head, principal, address } = call;
  const asker = readHolders(head.id, call).caller ?? networkOf(address);
  const { ofAsker, ofVisitors } = PAGE_ASK_LIMITS;
  requireAccepted(ofAsker, await limiters.shared.spend(ofAsker, `${head.id} ${asker}`));
  if (role === 'none' || principal.kind === 'anonymous') requireAccepted(ofVisitors, await limiters.shared.spend(ofVisitors, head.id));
}

function wantedFor(
  answering: Answering,
  call: Pick<BaseCall, 'principal' | 'acceptLanguage' | 'ended'>,
  asked: Omit<Asked, 'locale'>,
): Wanted {
  const locale = localeOf(...call.acceptLanguage.split(',').map((tag) => tag.trim()));
  return {
    principal: call.principal,
    callEnded: call.ended,
    artifactIds: new Set([...asked.sources, ...asked.others].map(({ artifactId }) => artifactId)),
    make: (signal) => answering.answer({ ...asked, locale }, signal),
  };
}
