/**
 * Notices that something has happened to an artifact or in a workspace with webhooks, gathers for a second, and has it looked at. What a node
 * misses, because it stops or another one owns the artifact, is found by comparing with what is stored, at the start and every minute.
 */
import type { Change } from '../../../../actors/kinds.ts';
import type { Clock, Log, Timer } from '../../../../actors/runtime/ports.ts';
import type { CommitListener } from '../../../../actors/runtime/runtime.ts';
import type { ArtifactId, WebhookId } from '../../../../protocol/core/ids.ts';
import { type Bus, onArtifact } from '../../../platform/bus.ts';
import type { Sql } from '../../../storage/sql.ts';
import { findOfArtifacts, findUnseen, findWithEvents, listSubscribed } from './look-rows.ts';
import { lookAt } from './looking.ts';

export interface WatchDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Log;
  readonly bus: Bus;
  readonly runtime: { onCommitted(listener: CommitListener): void };
  /** Called where deliveries were made. */
  readonly onMade: () => void;
}

const GATHER_MS = 1000;
const COMPARE_MS = 60_000;
/** Where the database does not answer. */
const AGAIN_MS = 2000;
/** Further artifacts are found by the comparison. */
const SUBSCRIBED_MAX = 200_000;
const WAITING_MAX = 10_000;
const UNSEEN_AT_ONCE = 500;
const FAILED_MAX = 3;

export class WebhookWatch {
  readonly #deps: WatchDeps;
  /** Artifacts with webhooks: a commit to any other costs one look into this set. */
  readonly #subscribed = new Set<ArtifactId>();
  #artifacts = new Set<ArtifactId>();
  #webhooks = new Set<WebhookId>();
  /** Those whose deliveries fill all places, until one ends. */
  readonly #full = new Set<WebhookId>();
  #comparesAll = false;
  #readsEvents = false;
  #gathering: Timer | undefined;
  #comparing: Timer | undefined;
  #pass: Promise<void> | undefined;
  #isClosed = false;

  constructor(deps: WatchDeps) {
    this.#deps = deps;
    deps.runtime.onCommitted((id, changes) => this.#committed(id, changes));
    const workspace = () => {
      this.#readsEvents = true;
      this.#gather();
    };
    deps.bus.listen('webhooks', {
      ...onArtifact(({ artifactId }) => {
        this.#note(artifactId);
        workspace();
      }),
      'person.changed': workspace,
      'workspace.changed': workspace,
      'folder.changed': workspace,
      resync: () => this.compare(),
    });
  }

  /** Artifacts that are watched for every commit. */
  get subscribed(): number {
    return this.#subscribed.size;
  }

  start(): void {
    this.compare();
  }

  /** Looks at every webhook whose artifact or workspace has something new. */
  compare(): void {
    this.#comparesAll = true;
    this.#gather(0);
  }

  /** A webhook was made or turned on. Other nodes hear of its artifact on the bus. */
  added(artifactId: ArtifactId | null): void {
    if (artifactId !== null) this.#note(artifactId);
  }

  /** A delivery has ended: what waited for its place is looked at. */
  ended(id: WebhookId): void {
    if (!this.#full.delete(id)) return;
    this.#webhooks.add(id);
    this.#gather();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#gathering?.cancel();
    this.#comparing?.cancel();
    await this.#pass;
  }

  #committed(id: ArtifactId, _: readonly Change[]): void {
    if (this.#subscribed.has(id)) this.#note(id);
  }

  #note(id: ArtifactId): void {
    if (this.#artifacts.size < WAITING_MAX) this.#artifacts.add(id);
    else this.#comparesAll = true;
    this.#gather();
  }

  #gather(delayMs: number = GATHER_MS): void {
    if (this.#isClosed || this.#pass !== undefined) return;
    if (delayMs < GATHER_MS) this.#gathering?.cancel();
    else if (this.#gathering !== undefined) return;
    this.#gathering = this.#deps.clock.after(delayMs, () => {
      this.#gathering = undefined;
      this.#pass ??= this.#look().then((retryMs) => {
        this.#pass = undefined;
        if (this.#hasWork()) this.#gather(retryMs);
      });
    });
  }

  #hasWork(): boolean {
    return this.#comparesAll || this.#readsEvents || this.#artifacts.size > 0 || this.#webhooks.size > 0;
  }

  /** Answers after which time to look again where there is more. Never rejects. */
  async #look(): Promise<number> {
    const artifacts = [...this.#artifacts];
    const webhooks = this.#webhooks;
    const { comparesAll, readsEvents } = { comparesAll: this.#comparesAll, readsEvents: this.#readsEvents };
    this.#artifacts = new Set();
    this.#webhooks = new Set();
    this.#comparesAll = false;
    this.#readsEvents = false;
    try {
      if (comparesAll) await this.#compareAll(webhooks);
      if (artifacts.length > 0) await this.#findOf(artifacts, webhooks);
      if (readsEvents || comparesAll) for (const id of await findWithEvents(this.#deps.sql)) webhooks.add(id);
      await this.#lookAtAll(webhooks);
      return GATHER_MS;
    } catch (err) {
      this.#deps.log.warn({ err }, 'webhooks could not be looked at; they are again in a moment');
      for (const id of artifacts) this.#artifacts.add(id);
      for (const id of webhooks) this.#webhooks.add(id);
      this.#comparesAll ||= comparesAll;
      this.#readsEvents ||= readsEvents;
      return AGAIN_MS;
    }
  }

  async #compareAll(webhooks: Set<WebhookId>): Promise<void> {
    const { sql, clock } = this.#deps;
    this.#comparing?.cancel();
    this.#comparing = this.#isClosed ? undefined : clock.after(COMPARE_MS, () => this.compare());
    const subscribed = await listSubscribed(sql, SUBSCRIBED_MAX);
    this.#subscribed.clear();
    for (const id of subscribed) this.#subscribed.add(id);
    for (const id of await findUnseen(sql, UNSEEN_AT_ONCE)) webhooks.add(id);
  }

  async #findOf(artifacts: readonly ArtifactId[], webhooks: Set<WebhookId>): Promise<void> {
    const found = await findOfArtifacts(this.#deps.sql, artifacts);
    for (const { id } of found) webhooks.add(id);
    const having = new Set(found.map(({ artifactId }) => artifactId));
    for (const id of artifacts) {
      if (!having.has(id)) this.#subscribed.delete(id);
      else if (this.#subscribed.size < SUBSCRIBED_MAX) this.#subscribed.add(id);
    }
  }

  /** One after the other: what happens meanwhile gathers. */
  async #lookAtAll(webhooks: Set<WebhookId>): Promise<void> {
    const { sql, clock, onMade } = this.#deps;
    let failed = 0;
    for (const id of webhooks) {
      if (this.#isClosed) return;
      webhooks.delete(id);
      try {
        const { made, rest } = await sql.begin((tx) => lookAt(tx, id, clock.nowMs()));
        if (rest === 'more') this.#webhooks.add(id);
        if (rest === 'full') this.#full.add(id);
        if (made > 0) onMade();
      } catch (err) {
        this.#webhooks.add(id);
        failed += 1;
        // One that cannot be looked at holds up no other; where several fail the database is gone.
        if (failed >= FAILED_MAX) throw err;
        this.#deps.log.warn({ err, webhookId: id }, 'a webhook could not be looked at; it is again in a moment');
      }
    }
  }
}
