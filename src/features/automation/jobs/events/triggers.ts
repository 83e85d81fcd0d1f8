/**
 * Sets jobs off by events. What happens to an artifact is gathered for a second on the node that hears of it; then one transaction compares it
 * with what its jobs have seen, and writes what is to run. What no node has heard of, because one has died, is found by what the jobs have not
 * seen yet.
 */
import { type Change, changeTypeOf } from '../../../../../actors/kinds.ts';
import type { Timer } from '../../../../../actors/runtime/ports.ts';
import type { JobEventType } from '../../../../../protocol/automation/jobs.ts';
import type { ArtifactId } from '../../../../../protocol/core/ids.ts';
import { FEEDS } from '../../../data/changes/kinds.ts';
import type { ModuleDeps } from '../../../module.ts';
import { evaluate, type Gathered } from './evaluation.ts';
import { listensTo, type Seen } from './matching.ts';
import { type Heard, listListened, listUnseen, type Unseen } from './rows.ts';
import { UnheardCommits } from './unheard.ts';

const GATHER_MS = 1000;
/** How often it is looked for what nobody has heard of. */
const SWEEP_MS = 60_000;
const SWEPT_AT_ONCE = 100;
/** Changes of one artifact in a second that are kept; beyond that they are read from the store. */
const GATHERED_MAX = 2000;
const RETRY_MS = 1000;
/** Artifacts at once, so that a burst leaves room for the calls of people. */
const EVALUATED_AT_ONCE = 4;

export interface TriggerDeps extends Pick<ModuleDeps, 'sql' | 'clock' | 'log' | 'bus' | 'runtime'> {
  readonly views: { onStored(listener: (ids: readonly ArtifactId[]) => void): void };
  /** There is something to run. */
  readonly onRuns: () => void;
}

interface Waiting {
  firstSeq: number;
  lastSeq: number;
  seen: Seen[];
  isWhole: boolean;
  /** Those who listened when it began. */
  heardFor: readonly Heard[];
}

interface Listened {
  readonly types: ReadonlySet<JobEventType>;
  /** The jobs that listen to live data. */
  readonly toData: readonly Heard[];
}

const TO_DATA: ReadonlySet<JobEventType> = new Set(['data.changed', 'comment.added']);

export class EventTriggers {
  readonly #deps: TriggerDeps;
  /** What jobs of this installation listen to, by artifact. Looked at with each commit. */
  readonly #listened = new Map<ArtifactId, Listened>();
  readonly #unheard: UnheardCommits;
  readonly #waiting = new Map<ArtifactId, Waiting>();
  readonly #working = new Set<Promise<void>>();
  #timer: Timer | undefined;
  #sweepTimer: Timer | undefined;
  #stopped = false;

  constructor(deps: TriggerDeps) {
    this.#deps = deps;
    this.#unheard = new UnheardCommits(deps);
    deps.runtime.onCommitted((id, changes) => {
      const listened = this.#listened.get(id);
      if (listened !== undefined && listened.toData.length > 0) this.#committed(id, changes, listened.toData);
    });
    deps.views.onStored((ids) => {
      for (const id of ids) if (this.#listened.get(id)?.types.has('artifact.viewed')) this.#gather(id);
    });
    deps.bus.listen('event jobs', {
      'artifact.changed': ({ artifactId }) => {
        if (this.#listened.get(artifactId)?.types.has('artifact.updated')) this.#gather(artifactId);
      },
      'dataset.changed': ({ artifactId }) => {
        if (this.#listened.get(artifactId)?.types.has('data.changed')) this.#gather(artifactId);
      },
      'jobs.changed': ({ artifactId }) => this.#load(artifactId),
      resync: () => this.#load(null),
    });
  }

  /** Artifacts that jobs listen to. */
  get listened(): number {
    return this.#listened.size;
  }

  async start(): Promise<void> {
    await this.#load(null);
    await this.#sweep();
  }

  /** Settles when what was gathered before is looked at. */
  async flush(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    while (this.#waiting.size > 0 || this.#working.size > 0) {
      if (this.#working.size === 0) void this.#work();
      await Promise.all(this.#working);
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#sweepTimer?.cancel();
    await Promise.all(this.#working);
    await this.#unheard.stop();
  }

  async #load(id: ArtifactId | null): Promise<void> {
    try {
      const rows = await listListened(this.#deps.sql, id);
      if (id === null) {
        this.#listened.clear();
        this.#unheard.forgetAll();
      } else {
        this.#listened.delete(id);
        this.#unheard.take(id);
      }
      for (const { artifact_id, ...job } of rows) this.#listen(artifact_id, job);
      // What came before it was known here.
      if (id !== null && rows.length > 0) this.#gather(id);
    } catch (err) {
      this.#deps.log.warn({ err }, 'what jobs listen to could not be read; it is tried again');
      if (!this.#stopped) this.#deps.clock.after(RETRY_MS, () => void this.#load(id));
    }
  }

  #listen(id: ArtifactId, job: Heard & { readonly event_type: JobEventType }): void {
    const { types, toData } = this.#listened.get(id) ?? { types: [], toData: [] };
    this.#listened.set(id, { types: new Set([...types, job.event_type]), toData: TO_DATA.has(job.event_type) ? [...toData, job] : toData });
  }

  #committed(id: ArtifactId, changes: readonly Change[], jobs: readonly Heard[]): void {
    const first = changes[0];
    const last = changes.at(-1);
    if (first === undefined || last === undefined) return;
    const things = thingsOf(changes);
    if (!this.#waiting.has(id) && !things.some((thing) => jobs.some((job) => listensTo(job, thing)))) {
      this.#unheard.add(id, jobs, first.seq, last.seq);
      return;
    }
    const waiting = this.#gather(id, first.seq, jobs);
    // A gap: some commits are not told, and the store has what they changed.
    if (first.seq !== waiting.lastSeq + 1 || waiting.seen.length + changes.length > GATHERED_MAX) waiting.isWhole = false;
    waiting.lastSeq = last.seq;
    if (!waiting.isWhole) {
      waiting.seen = [];
      return;
    }
    waiting.seen.push(...things);
  }

  #gather(id: ArtifactId, firstSeq = 0, heardFor: readonly Heard[] = []): Waiting {
    let waiting = this.#waiting.get(id);
    if (waiting === undefined) {
      waiting = { firstSeq, lastSeq: firstSeq - 1, seen: [], isWhole: firstSeq > 0, heardFor };
      const before = this.#unheard.take(id);
      if (before !== undefined && before.lastSeq + 1 === firstSeq) waiting.firstSeq = before.firstSeq;
      this.#waiting.set(id, waiting);
    } else if (waiting.firstSeq === 0 && firstSeq > 0) {
      Object.assign(waiting, { firstSeq, lastSeq: firstSeq - 1, isWhole: true, heardFor });
    }
    if (!this.#stopped) this.#timer ??= this.#deps.clock.after(GATHER_MS, () => this.#due());
    return waiting;
  }

  #due(): void {
    this.#timer = undefined;
    for (let i = this.#working.size; i < EVALUATED_AT_ONCE && this.#waiting.size > 0; i += 1) void this.#work();
  }

  #work(): Promise<void> {
    const work = this.#evaluateAll().finally(() => this.#working.delete(work));
    this.#working.add(work);
    return work;
  }

  async #evaluateAll(): Promise<void> {
    for (;;) {
      const [next] = this.#waiting;
      if (next === undefined || this.#stopped) return;
      const [id, gathered] = next;
      this.#waiting.delete(id);
      await this.#evaluate(id, gathered);
    }
  }

  async #evaluate(id: ArtifactId, gathered: Gathered): Promise<void> {
    const { sql, clock, log, onRuns } = this.#deps;
    try {
      if (await sql.begin((tx) => evaluate(tx, id, gathered, clock.nowMs()))) onRuns();
    } catch (err) {
      log.warn({ err, artifactId: id }, 'events of an artifact could not be looked at; it is tried again');
      // From the store, which has what came meanwhile too.
      const again = this.#gather(id);
      again.isWhole = false;
    }
  }

  async #sweep(): Promise<void> {
    const { sql, clock, log } = this.#deps;
    try {
      await this.#unheard.note();
      for (let after: ArtifactId | null = null; !this.#stopped; ) {
        const unseen: readonly Unseen[] = await listUnseen(sql, after, SWEPT_AT_ONCE);
        for (const { artifact_id: id, seen_seq } of unseen)
          if (!this.#waiting.has(id) && !this.#unheard.covers(id, seen_seq)) this.#gather(id);
        after = unseen.at(-1)?.artifact_id ?? null;
        if (unseen.length < SWEPT_AT_ONCE) break;
      }
    } catch (err) {
      log.warn({ err }, 'events that jobs have not seen could not be looked for; it is tried again');
    }
    if (!this.#stopped) this.#sweepTimer = clock.after(SWEEP_MS, () => void this.#sweep());
  }
}

function thingsOf(changes: readonly Change[]): Seen[] {
  const things: Seen[] = [];
  for (const change of changes) {
    const feed = FEEDS[changeTypeOf(change)];
    if (feed.isSetting?.(change)) continue;
    const { seq, kind, name, rowId } = feed.thingOf(change);
    things.push({ seq, kind, name, rowId });
  }
  return things;
}
