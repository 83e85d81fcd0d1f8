/** Comments in the store. */
import type { StoredComment, StoredComments } from '../../../actors/comments/changes.ts';
import type { ChangeOf } from '../../../actors/kinds.ts';
import type { ArtifactId } from '../../../protocol/core/ids.ts';
import type { JournalStatement } from '../journal-statement.ts';
import type { Sql } from '../sql.ts';
import type { Graves, KindColumns, StoredKindOf } from './live-kind.ts';
import { owned } from './owned.ts';

type CommentChange = ChangeOf<'comments'>;
type Put = Extract<CommentChange, { kind: 'comment.put' }>;
type Delete = Extract<CommentChange, { kind: 'comment.delete' }>;
type Config = Extract<CommentChange, { kind: 'comments.config' }>;

export const commentsStored: StoredKindOf<'comments'> = {
  columns: (graves) => new CommentColumns(graves),
  // Comments are loaded at the first request for them.
  load: () => Promise.resolve({}),
  reads: (sql) => ({ readComments: (artifactId, epoch) => readComments(sql, artifactId, epoch) }),
};

class CommentColumns implements KindColumns<CommentChange> {
  readonly #graves: Graves;
  readonly #puts = {
    artifacts: [] as number[],
    ids: [] as string[],
    data: [] as string[],
    seqs: [] as number[],
    created: [] as number[],
    updated: [] as number[],
  };
  readonly #revisions = {
    artifacts: [] as number[],
    ids: [] as string[],
    seqs: [] as number[],
    contents: [] as string[],
    times: [] as number[],
  };
  readonly #deletes = { artifacts: [] as number[], ids: [] as string[] };
  readonly #configs = { artifacts: [] as number[], configs: [] as string[], seqs: [] as number[], times: [] as number[] };

  constructor(graves: Graves) {
    this.#graves = graves;
  }

  /** Every text that was replaced is kept as well. */
  add(artifact: number, changes: readonly CommentChange[]): void {
    const last = new Map<string, Put | Delete>();
    let config: Config | undefined;
    for (const change of changes) {
      if (change.kind === 'comments.config') config = change;
      else last.set(change.commentId, change);
      if (change.kind === 'comment.delete') this.#graves.bury(artifact, change, change.commentId, null);
    }
    for (const change of last.values()) {
      if (change.kind === 'comment.put') this.#addPut(artifact, change);
      else {
        this.#deletes.artifacts.push(artifact);
        this.#deletes.ids.push(change.commentId);
      }
    }
    for (const change of changes) {
      if (change.kind === 'comment.put' && change.replaced !== null && last.get(change.commentId)?.kind === 'comment.put') {
        this.#revisions.artifacts.push(artifact);
        this.#revisions.ids.push(change.commentId);
        this.#revisions.seqs.push(change.seq);
        this.#revisions.contents.push(change.replaced.content);
        this.#revisions.times.push(change.replaced.atMs);
      }
    }
    if (config === undefined) return;
    this.#configs.artifacts.push(artifact);
    this.#configs.configs.push(config.config);
    this.#configs.seqs.push(config.seq);
    this.#configs.times.push(config.atMs);
  }

  parts(statement: JournalStatement): string {
    const p = this.#puts;
    const r = this.#revisions;
    const d = this.#deletes;
    const c = this.#configs;
    const puts = () => `, comment_written as (
      insert into comment (artifact_id, id, data, seq, created_at_ms, updated_at_ms)
      select owned.id, p.id, p.data::jsonb, p.seq, p.created, p.updated
      from unnest(
        ${statement.bigints(p.artifacts)}, ${statement.texts(p.ids)}, ${statement.texts(p.data)}, ${statement.bigints(p.seqs)}, ${statement.bigints(p.created)}, ${statement.bigints(p.updated)}
      ) as p (artifact, id, data, seq, created, updated)
      join owned on owned.artifact = p.artifact
      on conflict (artifact_id, id) do update set data = excluded.data, seq = excluded.seq, updated_at_ms = excluded.updated_at_ms
    )`;
    const revisions = () => `, comment_revised as (
      insert into comment_revision (artifact_id, comment_id, seq, content, at_ms)
      select owned.id, r.id, r.seq, r.content, r.at
      from unnest(
        ${statement.bigints(r.artifacts)}, ${statement.texts(r.ids)}, ${statement.bigints(r.seqs)}, ${statement.texts(r.contents)}, ${statement.bigints(r.times)}
      ) as r (artifact, id, seq, content, at)
      join owned on owned.artifact = r.artifact
    )`;
    const deletes = () => `, comment_gone as (
      select owned.id as artifact_id, d.id from unnest(${statement.bigints(d.artifacts)}, ${statement.texts(d.ids)}) as d (artifact, id)
      join owned on owned.artifact = d.artifact
    ), comment_deleted as (
      delete from comment using comment_gone g where comment.artifact_id = g.artifact_id and comment.id = g.id
    ), comment_forgotten as (
      delete from comment_revision using comment_gone g where comment_revision.artifact_id = g.artifact_id and comment_revision.comment_id = g.id
    )`;
    const configs = () => `, comments_configured as (
      insert into comment_config (artifact_id, config, seq, updated_at_ms)
      select owned.id, c.config::jsonb, c.seq, c.at
      from unnest(${statement.bigints(c.artifacts)}, ${statement.texts(c.configs)}, ${statement.bigints(c.seqs)}, ${statement.bigints(c.times)}) as c (artifact, config, seq, at)
      join owned on owned.artifact = c.artifact
      on conflict (artifact_id) do update set config = excluded.config, seq = excluded.seq, updated_at_ms = excluded.updated_at_ms
    )`;
    const some = (rows: readonly unknown[], part: () => string) => (rows.length === 0 ? '' : part());
    return `${some(p.ids, puts)}${some(r.ids, revisions)}${some(d.ids, deletes)}${some(c.configs, configs)}`;
  }

  #addPut(artifact: number, change: Put): void {
    const puts = this.#puts;
    puts.artifacts.push(artifact);
    puts.ids.push(change.commentId);
    puts.data.push(change.data);
    puts.seqs.push(change.seq);
    puts.created.push(change.createdAtMs);
    puts.updated.push(change.updatedAtMs);
  }
}

async function readComments(sql: Sql, artifactId: ArtifactId, epoch: number): Promise<StoredComments | null> {
  return owned(sql, artifactId, epoch, async (tx) => {
    const [config] = await tx<{ config: string }[]>`select config::text as config from comment_config where artifact_id = ${artifactId}`;
    const comments = await tx<StoredComment[]>`
      select id, data::text as data, seq, created_at_ms as "createdAtMs", updated_at_ms as "updatedAtMs"
      from comment where artifact_id = ${artifactId} order by created_at_ms, id`;
    return { config: config?.config ?? null, comments };
  });
}
