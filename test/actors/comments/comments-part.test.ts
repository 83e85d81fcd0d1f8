/** The comments part of an actor: when it reads comments from the store, and its limits. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { StoredComments } from '../../../actors/comments/changes.ts';
import type { CommentPerson } from '../../../actors/comments/comment-rules.ts';
import type { CommentsPart, NewComment } from '../../../actors/comments/comments-part.ts';
import type { Change } from '../../../actors/kinds.ts';
import { ArtifactActor } from '../../../actors/runtime/artifact-actor.ts';
import { Backlog } from '../../../actors/runtime/backlog.ts';
import { newId } from '../../../protocol/core/ids.ts';
import { LIMITS } from '../../../protocol/core/limits.ts';
import { MemoryStore } from '../../sim/memory-store.ts';
import { SteppedClock } from '../../support/stepped-clock.ts';

const OWNER_ID = newId('user');
const OWNER: CommentPerson = { id: OWNER_ID, own: new Set([OWNER_ID]), name: 'Owner', type: 'human', role: 'owner', guestsByFolder: false };

function said(content: string, more: Partial<NewComment> = {}): NewComment {
  return {
    content,
    contextId: null,
    parentId: null,
    position: null,
    quote: null,
    versionId: null,
    mentions: [],
    authorName: undefined,
    assigneeUserId: null,
    dueAtMs: null,
    ...more,
  };
}

/** A store whose answers the test sets. */
class HeldStore extends MemoryStore {
  reads = 0;
  answer: () => Promise<StoredComments | null> = () => Promise.resolve({ config: null, comments: [] });

  override readComments(): Promise<StoredComments | null> {
    this.reads += 1;
    return this.answer();
  }
}

let store: HeldStore;
let actor: ArtifactActor;
let comments: CommentsPart;
let changes: Change[];
beforeEach(() => {
  store = new HeldStore();
  const backlog = new Backlog();
  actor = new ArtifactActor(
    newId('artifact'),
    { epoch: 1, seq: 0, keys: [], tables: [], hasDroppedTables: false, blobs: [] },
    {
      clock: new SteppedClock(),
      backlog,
      work: { spend: () => undefined },
      store,
      hasten: () => undefined,
      mayAnswer: () => true,
      onCommitted: (_id, committed) => void changes.push(...committed),
    },
  );
  comments = actor.comments;
  changes = [];
});

function commit(): void {
  if (actor.takeBatch({ changesMax: 1000, bytesMax: 1_000_000 }) !== undefined) actor.committed();
}

describe('reading', () => {
  test('happens once for all waiting callers, and not again', async () => {
    await Promise.all([comments.prepare(), comments.prepare(), comments.prepare()]);
    expect([store.reads, comments.prepare()]).toEqual([1, undefined]);
  });

  test('that fails leaves no empty state behind and is tried again', async () => {
    store.answer = () => Promise.reject(new Error('cut off'));
    await expect(comments.prepare()).rejects.toThrow('cut off');
    expect(() => comments.add(OWNER, said('lost'))).toThrow('before they were prepared');
    store.answer = () => Promise.resolve({ config: null, comments: [] });
    await comments.prepare();
    expect([store.reads, comments.add(OWNER, said('kept')).content]).toEqual([2, 'kept']);
  });

  test('under a stale epoch is refused', async () => {
    store.answer = () => Promise.resolve(null);
    await expect(comments.prepare()).rejects.toMatchObject({ code: 'OWNER_MOVED' });
  });
});

describe('limits', () => {
  beforeEach(() => comments.prepare());

  test('the number of comments is limited; deleting makes room', () => {
    const first = comments.add(OWNER, said('n'));
    for (let count = 1; count < LIMITS.commentsMax; count += 1) {
      comments.add(OWNER, said('n'));
      commit();
    }
    const before = actor.seq;
    expect(() => comments.add(OWNER, said('n'))).toThrow(expect.objectContaining({ code: 'COMMENT_LIMIT_EXCEEDED' }));
    expect(actor.seq).toBe(before);
    expect(comments.delete(OWNER, first.id, {})).toBe(1);
    expect(comments.add(OWNER, said('n')).content).toBe('n');
  });

  test('the bytes are limited; a shorter text makes room', () => {
    const long = 'x'.repeat(LIMITS.commentCharsMax);
    const made: string[] = [];
    const fill = () => {
      for (;;) {
        made.push(comments.add(OWNER, said(long)).id);
        commit();
      }
    };
    expect(fill).toThrow(expect.objectContaining({ code: 'COMMENT_LIMIT_EXCEEDED' }));
    expect(made.length).toBeGreaterThan(LIMITS.commentsBytesMax / LIMITS.commentCharsMax / 1.1);
    expect(actor.residentBytes).toBeGreaterThan(made.length * LIMITS.commentCharsMax);
    comments.edit(OWNER, made[0] ?? '', { content: 'short' }, {});
    expect(comments.add(OWNER, said('fits')).content).toBe('fits');
  });

  test('reactions are limited by people and by different emoji', () => {
    const { id } = comments.add(OWNER, said('react'));
    const react = (person: string, emoji: string) => comments.react({ ...OWNER, id: person, own: new Set([person]) }, id, emoji);
    const emoji = (index: number) => String.fromCodePoint(0x1f600 + index);
    for (let index = 0; index < LIMITS.commentEmojiMax; index += 1) react('one', emoji(index));
    expect(() => react('one', emoji(LIMITS.commentEmojiMax))).toThrow(expect.objectContaining({ code: 'COMMENT_LIMIT_EXCEEDED' }));
    for (let index = LIMITS.commentEmojiMax; index < LIMITS.commentReactorsMax; index += 1) react(`p${index}`, emoji(0));
    expect(() => react('one more', emoji(0))).toThrow(expect.objectContaining({ code: 'COMMENT_LIMIT_EXCEEDED' }));
    expect(Object.keys(react('one', emoji(1)).reactions)).toHaveLength(LIMITS.commentEmojiMax - 1);
    expect(react('one more', emoji(0)).reactions[emoji(0)]).toContain('one more');
  });
});

test('a call that changes nothing writes nothing and emits no event', async () => {
  await comments.prepare();
  const { id } = comments.add(OWNER, said('once'));
  comments.resolve(OWNER, id, true);
  const before = actor.seq;
  comments.resolve(OWNER, id, true);
  comments.assign(id, null, undefined);
  comments.deleteResolved();
  expect(actor.seq).toBe(before + 1);
  expect(comments.deleteResolved()).toBe(0);
  commit();
  expect(changes.map((change) => (change.kind === 'comment.put' ? change.cause : change.kind))).toEqual([
    'added',
    'resolved',
    'comment.delete',
  ]);
});
