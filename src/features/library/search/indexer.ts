/**
 * Indexes what has changed. The queue is a table which a trigger fills in the transaction of each change, so that no crash loses one; the bus
 * only says which artifacts to look at now. What nobody was told of is found at the start and every minute.
 */
import type { Clock, Log, Timer } from '../../../../actors/runtime/ports.ts';
import type { ArtifactId, VersionId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { type Bus, onArtifact } from '../../../platform/bus.ts';
import { loopTurns } from '../../../platform/loop-turns.ts';
import { sqlState } from '../../../storage/sql.ts';
import type { ServiceDeps } from '../../deps.ts';
import { type DocumentWords, documentWords, lexemesOf } from './document-words.ts';
import {
  claimTurns,
  countTurns,
  endTurns,
  holdTurn,
  listPageFiles,
  type NewDocument,
  type PageFile,
  postponeTurn,
  queueAll,
  readSources,
  releaseTurn,
  type Source,
  type Turn,
  writeDocuments,
} from './index-rows.ts';
import { packed } from './packing.ts';
import { readPages } from './reading.ts';
import { SearchStatistics } from './statistics.ts';
import { StemBook } from './stems.ts';

export interface IndexerDeps extends Pick<ServiceDeps, 'sql' | 'objects'> {
  readonly clock: Clock;
  readonly log: Log;
  readonly bus: Bus;
}

/** Longer than an artifact takes, so that a lease only ends early when its process has died. */
const LEASE_S = 120;
const LOOK_EVERY_MS = 60_000;
const GATHER_MS = 20;
/** Changes that follow each other are written together: so often it waits, unless nothing came the last two times. */
const GATHERS_MAX = 10;
const QUIET_GATHERS = 2;
/** Claimed, and then written, in one statement. */
const AT_ONCE = 16;
/** At the same time: of some the pages are read while the database writes others. */
const PASSES = 4;
/** Pages that are read and not yet written say so many words, or one page more: what waits in memory is bounded, whatever pages say. */
const WORDS_AT_ONCE = 40_000;
const TOLD_MAX = 10_000;
const RETRY_MS = 2000;
const RETRY_MAX_MS = 3600_000;
const QUEUED_AT_ONCE = 500;
const QUEUE_ATTEMPTS_MAX = 5;
const DEADLOCK = '40P01';

/** What an artifact says, before it is known which of its words are common. */
interface ReadPage extends Pick<NewDocument, 'turn' | 'versionId' | 'passages'> {
  readonly said: DocumentWords;
}

export class Indexer {
  readonly #deps: IndexerDeps;
  readonly #stopping = new AbortController();
  /** Artifacts that the bus has told of. */
  readonly #told = new Set<ArtifactId>();
  #looksAtAll = true;
  #gathering: Timer | undefined;
  #looking: Timer | undefined;
  #passes: Promise<void> | undefined;
  #claiming: Promise<undefined> = Promise.resolve(undefined);
  readonly #stems: StemBook;
  readonly #statistics: SearchStatistics;

  constructor(deps: IndexerDeps) {
    this.#deps = deps;
    this.#stems = new StemBook(deps.sql);
    this.#statistics = new SearchStatistics(deps);
    const { 'artifact.changed': changed, 'artifact.replaced': replaced } = onArtifact(({ artifactId }) => this.#hear(artifactId));
    deps.bus.listen('search', {
      ...(changed && { 'artifact.changed': changed }),
      ...(replaced && { 'artifact.replaced': replaced }),
      resync: () => this.lookAtAll(),
    });
  }

  start(): void {
    this.lookAtAll();
  }

  /** Looks at the whole queue. */
  lookAtAll(): void {
    this.#looksAtAll = true;
    this.#gather();
  }

  /** Queues every artifact anew, and answers how many wait then. */
  async rebuild(): Promise<number> {
    const { sql } = this.#deps;
    let last = await this.#queueSome(null);
    while (last !== null) last = await this.#queueSome(last);
    const queued = await countTurns(sql);
    this.lookAtAll();
    return queued;
  }

  /** A change of many artifacts queues them in an order of its own, so that the two may wait for each other. */
  async #queueSome(after: ArtifactId | null): Promise<ArtifactId | null> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await queueAll(this.#deps.sql, after, QUEUED_AT_ONCE);
      } catch (error) {
        if (sqlState(error) !== DEADLOCK || attempt === QUEUE_ATTEMPTS_MAX) throw error;
      }
    }
  }

  async close(): Promise<void> {
    this.#stopping.abort(new Error('the service stops'));
    this.#gathering?.cancel();
    this.#looking?.cancel();
    await this.#passes;
    await this.#statistics.close();
  }

  #hear(id: ArtifactId): void {
    if (this.#told.size < TOLD_MAX) this.#told.add(id);
    else this.#looksAtAll = true;
    this.#gather();
  }

  #gather(): void {
    if (this.#stopping.signal.aborted || this.#passes !== undefined || this.#gathering !== undefined) return;
    this.#gatherMore(GATHERS_MAX, QUIET_GATHERS);
  }

  #gatherMore(left: number, quiet: number): void {
    const before = this.#told.size;
    this.#gathering = this.#deps.clock.after(GATHER_MS, () => {
      const { size } = this.#told;
      const quietLeft = size > before ? QUIET_GATHERS : quiet - 1;
      if (left > 1 && quietLeft > 0 && size < AT_ONCE && !this.#looksAtAll) return this.#gatherMore(left - 1, quietLeft);
      this.#gathering = undefined;
      this.#run();
    });
  }

  #run(): void {
    if (this.#stopping.signal.aborted) return;
    this.#passes ??= this.#indexAll().finally(() => {
      this.#passes = undefined;
      if (this.#told.size > 0 || this.#looksAtAll) this.#gather();
    });
  }

  /** Never rejects. */
  async #indexAll(): Promise<void> {
    const { clock, log } = this.#deps;
    const looksAtAll = this.#looksAtAll;
    this.#looksAtAll = false;
    try {
      // A rejection ends all when those that have begun are over, so that nothing is written after the end.
      const ended = await Promise.allSettled(Array.from({ length: PASSES }, () => this.#pass(looksAtAll)));
      for (const each of ended) if (each.status === 'rejected') throw each.reason;
    } catch (err) {
      if (!this.#stopping.signal.aborted)
        log.warn({ err }, 'the queue of the search index could not be read or written; it is again in a minute');
    }
    this.#looking?.cancel();
    // Of what is there already at the start, too.
    if (!this.#stopping.signal.aborted) this.#statistics.written(0);
    if (!this.#stopping.signal.aborted) this.#looking = clock.after(LOOK_EVERY_MS, () => this.lookAtAll());
  }

  /**
   * Until there is nothing left, or little of which it was told meanwhile: that waits for what comes with it. A backlog, which may take hours,
   * does not hold up what changes meanwhile.
   */
  async #pass(looksAtAll: boolean): Promise<void> {
    for (let isFirst = true; ; isFirst = false) {
      const told = isFirst || looksAtAll || this.#told.size >= AT_ONCE ? this.#takeTold() : [];
      if (told.length > 0) await this.#indexSome(told);
      else if (!looksAtAll || (await this.#indexSome(null)) === 0) return;
    }
  }

  #takeTold(): ArtifactId[] {
    const told: ArtifactId[] = [];
    for (const id of this.#told) {
      if (told.length === AT_ONCE) break;
      told.push(id);
      this.#told.delete(id);
    }
    return told;
  }

  /** Answers how many it has looked at. */
  async #indexSome(of: readonly ArtifactId[] | null): Promise<number> {
    this.#stopping.signal.throwIfAborted();
    const turns = await this.#claim(of);
    if (turns.length > 0) await this.#index(turns);
    return turns.length;
  }

  /** One after the other: two at once would share out what one can write together. */
  #claim(of: readonly ArtifactId[] | null): Promise<Turn[]> {
    const { sql, clock } = this.#deps;
    const claimed = this.#claiming.then(() => claimTurns(sql, of, clock.nowMs(), LEASE_S, AT_ONCE));
    this.#claiming = claimed.then(
      () => undefined,
      () => undefined,
    );
    return claimed;
  }

  async #index(turns: readonly Turn[]): Promise<void> {
    const { sql } = this.#deps;
    const documents: NewDocument[] = [];
    let pages: ReadPage[] = [];
    const gone: Turn[] = [];
    const sources = new Map(
      (
        await readSources(
          sql,
          turns.map(({ artifactId }) => artifactId),
        )
      ).map((source) => [source.id, source]),
    );
    const files = await this.#filesOf([...sources.values()]);
    for (const turn of turns) {
      const source = sources.get(turn.artifactId);
      if (source === undefined) gone.push(turn);
      else await this.#orPostpone(turn, async () => pages.push(await this.#read(turn, source, files)));
      if (pages.reduce((sum, { said }) => sum + said.words.length, 0) < WORDS_AT_ONCE) continue;
      documents.push(...(await this.#documentsOf(pages)));
      pages = [];
    }
    if (gone.length > 0) await endTurns(sql, gone);
    documents.push(...(await this.#documentsOf(pages)));
    const written = await this.#write(documents).catch(() => new Set<ArtifactId>());
    this.#statistics.written(written.size);
    // What has changed meanwhile, what somebody holds, and all of them where one is what the database does not take.
    for (const document of documents)
      if (!written.has(document.turn.artifactId)) await this.#orPostpone(document.turn, () => this.#writeAlone(document));
  }

  async #filesOf(sources: readonly Source[]): Promise<ReadonlyMap<VersionId, readonly PageFile[]>> {
    const versionIds = sources.flatMap(({ version_id }) => (version_id === null ? [] : [version_id]));
    const files = new Map<VersionId, PageFile[]>();
    for (const file of await listPageFiles(this.#deps.sql, versionIds, LIMITS.searchedFilesMax)) {
      const known = files.get(file.versionId);
      if (known === undefined) files.set(file.versionId, [file]);
      else known.push(file);
    }
    return files;
  }

  async #orPostpone(turn: Turn, run: () => Promise<unknown>): Promise<void> {
    const { sql, clock, log } = this.#deps;
    try {
      await run();
    } catch (err) {
      const isStopping = this.#stopping.signal.aborted;
      const dueAtMs = isStopping ? 0 : clock.nowMs() + Math.min(RETRY_MS * 2 ** turn.attempts, RETRY_MAX_MS);
      await postponeTurn(sql, turn, dueAtMs);
      if (isStopping) throw err;
      // Without the error itself: a refused statement of Postgres carries the text of the page.
      log.warn(
        { code: codeOf(err), artifactId: turn.artifactId, attempts: turn.attempts },
        'an artifact could not be indexed; it is tried again',
      );
    }
  }

  async #read(turn: Turn, source: Source, files: ReadonlyMap<VersionId, readonly PageFile[]>): Promise<ReadPage> {
    const { version_id: versionId } = source;
    const read = await readPages(this.#deps, (versionId === null ? undefined : files.get(versionId)) ?? [], this.#stopping.signal);
    const titles = [source.social_title ?? '', source.social_description ?? '', ...read.titles];
    await loopTurns.next('search');
    const said = documentWords({ name: source.name, slug: source.slug, titles }, read.pieces);
    return { turn, versionId, said, passages: await packed(read.pieces) };
  }

  /** New words of all these pages are learnt at once, because each such statement is a commit; one by one where that is refused. */
  async #documentsOf(pages: readonly ReadPage[]): Promise<NewDocument[]> {
    if (pages.length === 0) return [];
    const all = await this.#stems.commonOf(pages.map(({ said }) => said)).catch(() => null);
    const documents: NewDocument[] = [];
    for (const page of pages) {
      await this.#orPostpone(page.turn, async () => {
        const { said, ...rest } = page;
        const common = all ?? (await this.#stems.commonOf([said]));
        await loopTurns.next('search');
        documents.push({ ...rest, ...lexemesOf(said, common) });
      });
    }
    return documents;
  }

  /** Answers of which artifacts it has written the documents and ended the turns. */
  async #write(documents: readonly NewDocument[]): Promise<ReadonlySet<ArtifactId>> {
    if (documents.length === 0) return new Set();
    const { sql, clock } = this.#deps;
    return sql.begin(async (tx) => new Set(await endTurns(tx, await writeDocuments(tx, documents, clock.nowMs()))));
  }

  /** Waits for who holds the artifact: one alone cannot be waited for in turn. */
  async #writeAlone(document: NewDocument): Promise<void> {
    const { sql, clock } = this.#deps;
    const { turn } = document;
    const written = await sql.begin(async (tx) => {
      await holdTurn(tx, turn.artifactId);
      return endTurns(tx, await writeDocuments(tx, [document], clock.nowMs()));
    });
    if (written.length > 0) return;
    // Changed meanwhile: it is looked at again.
    await releaseTurn(sql, turn);
    this.#told.add(turn.artifactId);
  }
}

function codeOf(err: unknown): string {
  if (!(err instanceof Error)) return 'unknown';
  return 'code' in err && typeof err.code === 'string' ? err.code : err.name;
}
