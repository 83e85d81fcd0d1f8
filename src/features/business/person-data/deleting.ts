/**
 * Removes one person, step by step. Every part of a step is a transaction that holds the claim, does what it does once, and adds it to the
 * receipt; so a process that dies in between loses nothing, and the next one begins with the first step again, which finds nothing left.
 */
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId, UserId } from '../../../../protocol/core/ids.ts';
import type { Bus } from '../../../platform/bus.ts';
import { purgeExpired } from '../../artifacts/trash/purge.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import type { PurgeArtifact } from '../../module.ts';
import { addUsage, artifactBytes, lockUsage } from '../../people/usage/rows.ts';
import { readRole } from '../../workspaces/members/rows.ts';
import { lockAdministration, requireAnAdmin } from '../instance/admins.ts';
import {
  blankRecord,
  closeAccounts,
  deleteAccounts,
  doomArtifacts,
  endLoneWorkspace,
  fenceArtifact,
  forgetAllowed,
  giveArtifact,
  giveMetrics,
  giveWebhooks,
  listCommented,
  listOrphanedWorkspaces,
  lockOwnedArtifacts,
  lockSharedArtifacts,
  makeOwner,
  type NamedComment,
  readNamedComments,
  readSuccessor,
  unsignMessages,
  unsignOperations,
  writeComment,
} from './deletion-rows.ts';
import { HOLDINGS, NOBODY_ID } from './holdings.ts';
import {
  blankPersonRows,
  type DeletionClaim,
  endDeletion,
  holdDeletion,
  noteStep,
  readSubject,
  removePersonRows,
  type StepReceipt,
  type Subject,
  writeSubject,
} from './rows.ts';

export interface DeletingDeps extends Pick<ServiceDeps, 'sql' | 'clock'> {
  readonly bus: Bus;
  readonly purges: readonly PurgeArtifact[];
}

export const DELETION_LEASE_MS = 300_000;
const ROWS_AT_ONCE = 500;
const ARTIFACTS_AT_ONCE = 50;
/** Each is written by itself, while the artifact takes no other change. */
const COMMENTS_AT_ONCE = 200;

type Counts = Omit<StepReceipt, 'step'>;

/** Throws `LostClaim` where another process has taken it over; any other error is tried again later. */
export async function removePerson(deps: DeletingDeps, claim: DeletionClaim, signal: AbortSignal): Promise<void> {
  const subject = await beginWith(deps, claim);
  const progress = new Progress(deps, claim);
  const steps = new Steps(deps, claim, subject, progress, signal);
  await steps.close();
  await steps.artifacts();
  await steps.workspaces();
  await steps.comments();
  await steps.record();
  await steps.shared();
  await steps.rows();
  await steps.signatures();
  await steps.accounts();
  await deps.sql.begin(async (tx) => {
    await holdDeletion(tx, claim, DELETION_LEASE_MS);
    await endDeletion(tx, claim, deps.clock.nowMs());
  });
}

/** Nothing of the person is changed, and it is not tried again by itself: whoever administers cancels it or asks anew. */
export class NotBegun extends Error {
  override readonly name = 'NotBegun';
}

const NO_HEIR = 'The heir is gone: name another one with a new request.';

/**
 * Whom it removes, fixed before the first step: later the account may be gone while something of it is left. From then on it cannot be canceled,
 * and nobody acts as them. Throws `NotBegun`.
 */
async function beginWith({ sql, clock }: DeletingDeps, claim: DeletionClaim): Promise<Subject> {
  if (claim.accounts.length > 0) return claim;
  return sql.begin(async (tx) => {
    // First, as calls of administrators do, which change the deletion after it.
    await lockAdministration(tx);
    await holdDeletion(tx, claim, DELETION_LEASE_MS);
    if (claim.wantsHeir && claim.heirId === null) throw new NotBegun(NO_HEIR);
    const subject = claim.userId === null ? { accounts: [], addresses: [] } : await readSubject(tx, claim.userId);
    await closeAccounts(tx, subject.accounts, clock.nowMs());
    try {
      await requireAnAdmin(tx, subject.accounts);
    } catch (err) {
      throw err instanceof Failure ? new NotBegun(err.message) : err;
    }
    await writeSubject(tx, claim, subject);
    return subject;
  });
}

/** The receipt as far as it is. */
class Progress {
  readonly #deps: Pick<DeletingDeps, 'sql'>;
  readonly #claim: DeletionClaim;
  #receipt: readonly StepReceipt[];

  constructor(deps: Pick<DeletingDeps, 'sql'>, claim: DeletionClaim) {
    this.#deps = deps;
    this.#claim = claim;
    this.#receipt = claim.receipt;
  }

  /** One transaction of a step. */
  async part<T extends Counts>(step: string, work: (tx: Queries) => Promise<T>): Promise<T> {
    const { counts, receipt } = await this.#deps.sql.begin(async (tx) => {
      await holdDeletion(tx, this.#claim, DELETION_LEASE_MS);
      const done = await work(tx);
      const added = addTo(this.#receipt, step, done);
      await noteStep(tx, this.#claim, added);
      return { counts: done, receipt: added };
    });
    this.#receipt = receipt;
    return counts;
  }
}

function addTo(receipt: readonly StepReceipt[], step: string, { removed, kept }: Counts): readonly StepReceipt[] {
  const known = receipt.find((each) => each.step === step);
  if (known === undefined) return removed + kept === 0 ? receipt : [...receipt, { step, removed, kept }];
  return receipt.map((each) => (each === known ? { step, removed: each.removed + removed, kept: each.kept + kept } : each));
}

class Steps {
  readonly #deps: DeletingDeps;
  readonly #claim: DeletionClaim;
  readonly #subject: Subject;
  readonly #progress: Progress;
  readonly #signal: AbortSignal;

  constructor(deps: DeletingDeps, claim: DeletionClaim, subject: Subject, progress: Progress, signal: AbortSignal) {
    this.#deps = deps;
    this.#claim = claim;
    this.#subject = subject;
    this.#progress = progress;
    this.#signal = signal;
  }

  /** Their sessions, tokens and sockets end before anything is removed. */
  async close(): Promise<void> {
    const { accounts } = this.#subject;
    await this.#progress.part('sign-ins', async (tx) => {
      await closeAccounts(tx, accounts, this.#deps.clock.nowMs());
      return { removed: 0, kept: 0 };
    });
    this.#deps.bus.tell({ kind: 'person.changed', userIds: accounts });
  }

  async artifacts(): Promise<void> {
    const { heirId, wantsHeir } = this.#claim;
    if (wantsHeir && heirId === null) throw new Error(NO_HEIR);
    if (heirId !== null) {
      while (await this.#give(heirId)) this.#signal.throwIfAborted();
      return;
    }
    while (await this.#give(null)) this.#signal.throwIfAborted();
    while (await this.#doom()) this.#signal.throwIfAborted();
    await purgeExpired(this.#deps, this.#signal);
    this.#signal.throwIfAborted();
  }

  /**
   * False when none is left. What is in a workspace that the heir is no member of, the workspace owns from now on; without an heir it owns what it
   * has for other members, and the rest is left.
   */
  async #give(heirId: UserId | null): Promise<boolean> {
    const { bus, clock } = this.#deps;
    const { given } = await this.#progress.part('artifacts', async (tx) => {
      const lock = heirId === null ? lockSharedArtifacts : lockOwnedArtifacts;
      const rows = await lock(tx, this.#subject.accounts, ARTIFACTS_AT_ONCE);
      for (const { id, owner_id, workspace_id } of rows) {
        const isHeirs = heirId !== null && (workspace_id === null || (await readRole(tx, workspace_id, [heirId])) !== null);
        const holder = isHeirs || workspace_id === null ? heirId : workspace_id;
        if (holder === null) throw new Error(`artifact ${id} is in no workspace`);
        const bytes = await artifactBytes(tx, id);
        await lockUsage(tx, owner_id, holder);
        await giveArtifact(tx, id, isHeirs ? heirId : null, clock.nowMs());
        await addUsage(tx, owner_id, -bytes, -1);
        await addUsage(tx, holder, bytes, 1);
      }
      return { removed: 0, kept: rows.length, given: rows };
    });
    for (const { id, slug, is_live } of given) if (is_live) bus.tell({ kind: 'artifact.changed', artifactId: id, slugs: [slug] });
    return given.length > 0;
  }

  async #doom(): Promise<boolean> {
    const { doomed } = await this.#progress.part('artifacts', async (tx) => {
      const rows = await doomArtifacts(tx, this.#subject.accounts, ARTIFACTS_AT_ONCE);
      return { removed: rows.length, kept: 0, doomed: rows };
    });
    for (const { id, slug } of doomed) this.#deps.bus.tell({ kind: 'artifact.gone', artifactId: id, slugs: [slug] });
    return doomed.length > 0;
  }

  async workspaces(): Promise<void> {
    const { sql, bus, clock } = this.#deps;
    const { accounts, addresses } = this.#subject;
    for (const { id } of await listOrphanedWorkspaces(sql, accounts)) {
      this.#signal.throwIfAborted();
      const { successor } = await this.#progress.part('workspaces', async (tx) => {
        const { heirId } = this.#claim;
        const isMember = heirId !== null && (await readRole(tx, id, [heirId])) !== null;
        // An heir is let into a workspace only where nobody else is.
        const next = isMember ? heirId : ((await readSuccessor(tx, id, accounts)) ?? heirId);
        if (next === null) await endLoneWorkspace(tx, id, clock.nowMs());
        else await makeOwner(tx, id, next, clock.nowMs());
        return { removed: next === null ? 1 : 0, kept: next === null ? 0 : 1, successor: next };
      });
      bus.tell({ kind: 'workspace.changed', workspaceId: id });
      if (successor !== null) bus.tell({ kind: 'person.changed', userIds: [successor] });
    }
    if (addresses.length > 0)
      await this.#progress.part('workspace.allowed_emails', async (tx) => ({ removed: await forgetAllowed(tx, addresses), kept: 0 }));
  }

  /** Each artifact once, in the order of their ids: what is said meanwhile cannot make this endless. */
  async comments(): Promise<void> {
    let beyond = '';
    for (;;) {
      const commented = await listCommented(this.#deps.sql, this.#subject.accounts, beyond, ARTIFACTS_AT_ONCE);
      for (const { id, slug } of commented) await this.#commentsOf(id, slug);
      const last = commented.at(-1);
      if (last === undefined) return;
      beyond = last.id;
    }
  }

  async #commentsOf(id: ArtifactId, slug: string): Promise<void> {
    const { accounts } = this.#subject;
    let beyond: string | undefined = '';
    while (beyond !== undefined) {
      this.#signal.throwIfAborted();
      const after: string = beyond;
      const { last } = await this.#progress.part('comments', async (tx) => {
        const named = await readNamedComments(tx, id, accounts, after, COMMENTS_AT_ONCE);
        if (named.length === 0) return { removed: 0, kept: 0, last: undefined };
        const from = await fenceArtifact(tx, id, named.length);
        // Read again: the actor may have written until it was fenced.
        const now = await readNamedComments(tx, id, accounts, after, COMMENTS_AT_ONCE);
        for (const [at, comment] of now.entries())
          await writeComment(tx, id, anonymous(comment, accounts), from + Math.min(at + 1, named.length));
        return { removed: 0, kept: now.length, last: now.at(-1)?.id };
      });
      if (last !== undefined) this.#deps.bus.tell({ kind: 'artifact.replaced', artifactId: id, slugs: [slug] });
      beyond = last;
    }
  }

  async record(): Promise<void> {
    const { accounts, addresses } = this.#subject;
    const names = [...accounts, ...addresses];
    await this.#allOf('audit_entry', 'kept', (tx) => blankRecord(tx, accounts, names, ROWS_AT_ONCE));
  }

  /** What others rely on and only stands in the name of the person. */
  async shared(): Promise<void> {
    const { accounts } = this.#subject;
    await this.#allOf('metric_definition', 'kept', (tx) => giveMetrics(tx, accounts, ROWS_AT_ONCE));
    await this.#allOf('webhook', 'kept', (tx) => giveWebhooks(tx, accounts, ROWS_AT_ONCE));
  }

  async rows(): Promise<void> {
    for (const holding of HOLDINGS) {
      const change = holding.end === 'removed' ? removePersonRows : blankPersonRows;
      const counted = holding.end === 'removed' ? 'removed' : 'kept';
      await this.#allOf(`${holding.table}.${holding.column}`, counted, (tx) => change(tx, holding, this.#subject, ROWS_AT_ONCE));
    }
  }

  /** After the rows: a ticket of their own goes with what they wrote in it. */
  async signatures(): Promise<void> {
    const { accounts } = this.#subject;
    await this.#allOf('ticket_message', 'kept', (tx) => unsignMessages(tx, accounts, ROWS_AT_ONCE));
    await this.#allOf('billing_operation', 'kept', (tx) => unsignOperations(tx, accounts, ROWS_AT_ONCE));
  }

  async accounts(): Promise<void> {
    const { bus } = this.#deps;
    const { accounts } = this.#subject;
    await this.#progress.part('account', async (tx) => ({ removed: await deleteAccounts(tx, accounts), kept: 0 }));
    bus.tell({ kind: 'person.changed', userIds: accounts });
    for (const userId of accounts) bus.tell({ kind: 'account.changed', userId });
  }

  async #allOf(step: string, counted: keyof Counts, change: (tx: Queries) => Promise<number>): Promise<void> {
    let count = ROWS_AT_ONCE;
    while (count >= ROWS_AT_ONCE) {
      this.#signal.throwIfAborted();
      const done = await this.#progress.part(step, async (tx) => {
        const changed = await change(tx);
        return { removed: 0, kept: 0, [counted]: changed, changed };
      });
      count = done.changed;
    }
  }
}

/**
 * What was said stays, and nobody has said it. Somebody else's comment loses its mentions, reactions and tasks of them. Wherever else an id
 * stands, also in what only the page understands, the id of nobody takes its place.
 */
function anonymous({ id, data }: NamedComment, accounts: readonly UserId[]): NamedComment {
  const gone = new Set<string>(accounts);
  const isGone = (value: unknown) => typeof value === 'string' && gone.has(value);
  const without = (value: unknown) => (Array.isArray(value) ? value.filter((each) => !isGone(each)) : value);
  const reactions = Object.entries((data.reactions ?? {}) as Record<string, unknown>)
    .map(([name, people]) => [name, without(people)] as const)
    .filter(([, people]) => Array.isArray(people) && people.length > 0);
  const wasTheirs = isGone(data.authorId);
  const unsigned = {
    ...data,
    ...(wasTheirs && { authorId: null, authorName: null, authorType: 'guest' }),
    mentions: without(data.mentions ?? []),
    reactions: Object.fromEntries(reactions),
    resolvedBy: isGone(data.resolvedBy) ? null : (data.resolvedBy ?? null),
    assigneeUserId: isGone(data.assigneeUserId) ? null : (data.assigneeUserId ?? null),
  };
  return { id, data: scrubbed(unsigned, accounts) as Record<string, unknown> };
}

/** A JSON value with the id of nobody instead of each of these, in texts and names of fields. */
function scrubbed(value: unknown, accounts: readonly UserId[]): unknown {
  if (typeof value === 'string') return accounts.reduce<string>((text, each) => text.replaceAll(each, NOBODY_ID), value);
  if (Array.isArray(value)) return value.map((each) => scrubbed(each, accounts));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [scrubbed(name, accounts), scrubbed(each, accounts)]));
}
