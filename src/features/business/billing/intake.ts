/** Takes events of the provider: stored once, and then looked at. What has no room is refused, and the provider sends it again. */
import { Failure } from '../../../../protocol/core/errors.ts';
import type { WorkspaceId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { ShareQueue } from '../../../platform/share-queue.ts';
import type { Looking, LookingDeps } from './looking.ts';
import { ProviderAway, type ProviderEvent } from './provider.ts';
import { insertEvent, lockPaidWorkspace, readSubscription, readWorkspaceOf, wantLook } from './rows.ts';
import { tellPeople } from './telling.ts';

function bounds(total: number) {
  return { total, network: total, caller: total, artifact: total };
}

export class EventIntake {
  readonly #deps: LookingDeps;
  readonly #looking: Looking;
  /** Of one provider, so that a storm of events leaves the rest of the node alone. */
  readonly #queue = new ShareQueue({
    running: bounds(LIMITS.billingEventsMax),
    waiting: bounds(LIMITS.billingEventsWaitingMax),
    full: () => new Failure('UNAVAILABLE', { retryAfterS: 30 }),
  });

  constructor(deps: LookingDeps, looking: Looking) {
    this.#deps = deps;
    this.#looking = looking;
  }

  /** Settles when the event is stored and, where the provider answers, what it is about was looked at. Throws UNAVAILABLE. */
  take(event: ProviderEvent): Promise<void> {
    return this.#queue.run({}, () => this.#take(event));
  }

  async #take(event: ProviderEvent): Promise<void> {
    const { log } = this.#deps;
    const workspaceId = await this.#store(event);
    if (workspaceId === null) return;
    try {
      await this.#looking.refresh(workspaceId);
    } catch (error) {
      if (!(error instanceof ProviderAway)) throw error;
      log.info({ err: error, event: event.id }, 'an event is stored; what it is about is looked at when the provider answers');
    }
  }

  /** Null where there is nothing to look at: it was taken before, or is about nobody we know. */
  async #store(event: ProviderEvent): Promise<WorkspaceId | null> {
    const { sql, bus, clock, provider } = this.#deps;
    const { workspaceId, facts } = await sql.begin(async (tx) => {
      const nowMs = clock.nowMs();
      const isNew = await insertEvent(tx, provider.name, event, nowMs);
      if (!isNew || event.customerRef === null) return { workspaceId: null, facts: [] };
      if (event.kind !== 'dispute') return { workspaceId: await wantLook(tx, provider.name, event.customerRef), facts: [] };
      // The workspace is locked before its customer, as everywhere.
      const known = await readWorkspaceOf(tx, provider.name, event.customerRef);
      const workspace = known === null ? null : await lockPaidWorkspace(tx, known);
      const found = await wantLook(tx, provider.name, event.customerRef);
      if (found === null) return { workspaceId: null, facts: [] };
      const subscription = await readSubscription(tx, found, provider.name);
      return {
        workspaceId: found,
        facts: workspace === null ? [] : await tellPeople(tx, this.#deps, workspace, 'dispute', subscription, nowMs),
      };
    });
    for (const fact of facts) bus.tell(fact);
    return workspaceId;
  }
}
