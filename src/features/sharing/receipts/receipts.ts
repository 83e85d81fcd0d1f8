/** Notes which people outside opened what, in memory, and writes it in batches: no call waits for it. */
import { type ArtifactHead, grantsAlone, type Principal } from '../../../../actors/access/access.ts';
import type { Clock, Log, Timer } from '../../../../actors/runtime/ports.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { BoundedMap } from '../../../platform/cache.ts';
import type { Sql } from '../../../storage/sql.ts';
import { insertReceipts, type Receipt } from './rows.ts';

const FLUSH_MS = 2_000;
const REMEMBERED_MAX = 20_000;

export class Receipts {
  readonly #sql: Sql;
  readonly #clock: Clock;
  readonly #log: Log;
  #waiting: Receipt[] = [];
  /** When each person outside last opened each artifact. */
  readonly #last = new BoundedMap<string, number>(REMEMBERED_MAX);
  #timer: Timer | undefined;
  #flushing: Promise<void> = Promise.resolve();

  constructor(deps: { readonly sql: Sql; readonly clock: Clock; readonly log: Log }) {
    this.#sql = deps.sql;
    this.#clock = deps.clock;
    this.#log = deps.log;
  }

  /** Somebody was let in to an artifact. Counts where only a grant lets them. */
  note(head: ArtifactHead, principal: Principal): void {
    if (principal.kind !== 'user' || principal.person.grants.byResource.size === 0) return;
    const nowMs = this.#clock.nowMs();
    for (const externalId of new Set(grantsAlone(head, principal).map((grant) => grant.externalId))) {
      const name = `${externalId} ${head.id}`;
      const lastMs = this.#last.get(name);
      if (head.workspaceId === null || (lastMs !== undefined && nowMs - lastMs < LIMITS.receiptEveryMs)) continue;
      if (this.#waiting.length >= LIMITS.receiptsWaitingMax) return;
      this.#last.set(name, nowMs);
      this.#waiting.push({ workspaceId: head.workspaceId, externalId, artifactId: head.id, atMs: nowMs });
    }
    if (this.#waiting.length > 0) this.#timer ??= this.#clock.after(FLUSH_MS, () => void this.flush());
  }

  flush(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#flushing = this.#flushing.then(() => this.#write());
    return this.#flushing;
  }

  async #write(): Promise<void> {
    const batch = this.#waiting;
    this.#waiting = [];
    if (batch.length === 0) return;
    try {
      await insertReceipts(this.#sql, batch, LIMITS.receiptEveryMs);
    } catch (err) {
      // What was opened meanwhile is told with the next opening; no call may fail for it.
      this.#log.warn({ err, receipts: batch.length }, 'what people outside opened was not written');
    }
  }
}
