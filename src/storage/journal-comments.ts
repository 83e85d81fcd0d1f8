/** Comments in the group commit: what a batch leaves of them, and the parts of the statement that write it. */
import type { CommentChange } from '../../actors/ports.ts';
import type { JournalStatement } from './journal-statement.ts';

type Numbered<C> = C & { readonly seq: number };
type Put = Numbered<Extract<CommentChange, { kind: 'comment.put' }>>;
type Delete = Numbered<Extract<CommentChange, { kind: 'comment.delete' }>>;
type Config = Numbered<Extract<CommentChange, { kind: 'comments.config' }>>;

export class CommentColumns {
  readonly puts = {
    artifacts: [] as number[],
    ids: [] as string[],
    data: [] as string[],
    seqs: [] as number[],
    created: [] as number[],
    updated: [] as number[],
  };
  readonly revisions = {
    artifacts: [] as number[],
    ids: [] as string[],
    seqs: [] as number[],
    contents: [] as string[],
    times: [] as number[],
  };
  readonly deletes = { artifacts: [] as number[], ids: [] as string[] };
  readonly configs = { artifacts: [] as number[], configs: [] as string[], seqs: [] as number[], times: [] as number[] };

  /** `artifact`: the number of the batch; `changes` all of it that are about comments, in order. */
  add(artifact: number, changes: readonly Numbered<CommentChange>[]): void {
    // Only the last change of a comment can be seen after the commit, but every text that was replaced.
    const last = new Map<string, Put | Delete>();
    let config: Config | undefined;
    for (const change of changes) {
      if (change.kind === 'comments.config') config = change;
      else last.set(change.commentId, change);
    }
    for (const change of last.values()) {
      if (change.kind === 'comment.put') this.#addPut(artifact, change);
      else {
        this.deletes.artifacts.push(artifact);
        this.deletes.ids.push(change.commentId);
      }
    }
    for (const change of changes) {
      if (change.kind === 'comment.put' && change.replaced !== null && last.get(change.commentId)?.kind === 'comment.put') {
        this.revisions.artifacts.push(artifact);
        this.revisions.ids.push(change.commentId);
        this.revisions.seqs.push(change.seq);
        this.revisions.contents.push(change.replaced.content);
        this.revisions.times.push(change.replaced.atMs);
      }
    }
    if (config === undefined) return;
    this.configs.artifacts.push(artifact);
    this.configs.configs.push(config.config);
    this.configs.seqs.push(config.seq);
    this.configs.times.push(config.atMs);
  }

  #addPut(artifact: number, change: Put): void {
    const { puts } = this;
    puts.artifacts.push(artifact);
    puts.ids.push(change.commentId);
    puts.data.push(change.data);
    puts.seqs.push(change.seq);
    puts.created.push(change.createdAtMs);
    puts.updated.push(change.updatedAtMs);
  }
}

export function commentParts(statement: JournalStatement, { puts: p, revisions: r, deletes: d, configs: c }: CommentColumns): string {
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
