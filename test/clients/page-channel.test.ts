/** easel.channel, easel.presence and easel.comments against the service. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import type { ChannelEvent, CommentChange, Present } from '../../src/clients/page/api.ts';
import { codeFor } from '../features/data/comments/comment-stage.ts';
import { change, collaborator, type Stage, stage } from '../realtime/realtime-stage.ts';
import { callData } from '../support/data-client.ts';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { type LivePage, livePage } from './live-page.ts';

let easel: TestEasel;
let set: Stage;
beforeAll(async () => {
  easel = await startTestEasel();
  set = await stage(easel, { visibility: 'public' });
});
afterAll(() => easel.close());

function page(token: string | undefined = set.owner.token, artifactId = set.artifactId): LivePage {
  return livePage({ baseUrl: easel.baseUrl, artifactId, token });
}

function visitor(artifactId: string, guestToken?: string): LivePage & { readonly forgotten: number } {
  let forgotten = 0;
  const keep = (_name: string, text: string | undefined) => {
    forgotten += text === undefined ? 1 : 0;
  };
  const made = livePage({ baseUrl: easel.baseUrl, artifactId }, guestToken === undefined ? {} : { kept: () => guestToken, keep });
  return {
    ...made,
    get forgotten() {
      return forgotten;
    },
  };
}

/** Collects events, and waits for one of them. */
class Told<T> {
  readonly all: T[] = [];
  #look: (() => void) | undefined;
  readonly take = (one: T): void => {
    this.all.push(one);
    this.#look?.();
  };

  until(holds: (all: readonly T[]) => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#look = () => {
        if (holds(this.all)) resolve();
      };
      this.#look();
    });
  }

  some(is: (one: T) => boolean): Promise<void> {
    return this.until((all) => all.some(is));
  }
}

const put = (key: string, value: unknown, { artifactId, owner } = set) =>
  callData(easel, { id: artifactId as ArtifactId }, 'PUT', `/json/${key}`, { token: owner.token, body: value });

describe('channels', () => {
  it('deliver events, resume after a lost connection, and share one socket', async () => {
    const one = page();
    const channel = one.easel.channel();
    const [json, tables] = [new Told<ChannelEvent>(), new Told<ChannelEvent>()];
    channel.subscribe('json', json.take);
    channel.subscribe('tables', tables.take);
    await Promise.all([json, tables].map((told) => told.some(({ type }) => type === 'subscribed')));
    expect([channel.state, one.easel.state, channel.me?.id, channel.canWrite]).toEqual(['live', 'live', set.owner.userId, true]);
    await put('a', 1);
    await json.some(({ data }) => data === 1);
    expect(one.sockets.length).toBe(1);
    const back = one.away();
    await put('a', 2);
    await put('a', 3);
    back();
    await json.some(({ data }) => data === 3);
    // A key that changed twice during the loss is delivered once, with its current value.
    expect(json.all.filter(({ type }) => type === 'event').map(({ kind, key, data }) => [kind, key, data])).toEqual([
      ['json.put', 'a', 1],
      ['json.put', 'a', 3],
    ]);
    expect(tables.all.filter(({ type }) => type === 'event')).toEqual([]);
  });

  it('replay older events to a later listener, and deliver none twice', async () => {
    const own = await stage(easel);
    const channel = page(own.owner.token, own.artifactId).easel.channel();
    const [first, second, third] = [new Told<ChannelEvent>(), new Told<ChannelEvent>(), new Told<ChannelEvent>()];
    const stop = channel.subscribe('json', first.take);
    await first.some(({ type }) => type === 'subscribed');
    for (const key of ['a', 'b']) await put(key, key, own);
    await first.some(({ key }) => key === 'b');
    const stopOther = channel.subscribe('json', second.take, { since: 0 });
    await second.some(({ key }) => key === 'b');
    channel.subscribe('json', third.take)();
    stop();
    await put('c', 'c', own);
    await second.some(({ key }) => key === 'c');
    const keys = (told: Told<ChannelEvent>) => told.all.flatMap(({ key = [] }) => key);
    expect([keys(first), keys(second), keys(third)]).toEqual([['a', 'b'], ['a', 'b', 'c'], []]);
    stopOther();
    expect(channel.state).toBe('idle');
  });

  it('carry broadcasts to others, including those sent before the connection was open', async () => {
    const [one, two] = [page(), page()];
    const heard = new Told<ChannelEvent>();
    two.easel.channel().subscribe('broadcast', heard.take);
    await heard.some(({ type }) => type === 'subscribed');
    one.easel.channel().broadcast('wave', { hand: 'left' });
    await heard.some(({ kind }) => kind === 'wave');
    expect(heard.all.at(-1)).toMatchObject({ kind: 'wave', data: { hand: 'left' }, from: { id: set.owner.userId } });
    two.cut();
    await heard.some(({ type }) => type === 'reset');
  });

  it('report refusals, also of later messages', async () => {
    const own = await stage(easel, { visibility: 'public', allow_anon_collab: true });
    const one = visitor(own.artifactId);
    const errors = new Told<string>();
    one.easel.on('error', ({ code }) => errors.take(code));
    const [presence, json] = [new Told<ChannelEvent>(), new Told<ChannelEvent>()];
    one.easel.channel().subscribe('json', json.take);
    one.easel.channel().subscribe('presence', presence.take);
    await presence.some(({ type }) => type === 'subscribed');
    one.easel.channel().broadcast('big', 'x'.repeat(20_000));
    await errors.some((code) => code === 'VALUE_TOO_LARGE');
    await change(easel, own, { allow_anon_collab: false });
    await presence.some(({ type }) => type === 'refused');
    expect(presence.all.at(-1)).toMatchObject({ type: 'refused', code: 'FORBIDDEN' });
    await put('still', 1, own);
    await json.some(({ key }) => key === 'still');
    await change(easel, own, { visibility: 'private' });
    await json.some(({ type }) => type === 'refused');
    expect([one.easel.channel().state, one.easel.state]).toEqual(['refused', 'refused']);
  });

  it('report a missing artifact although browsers hide why an upgrade failed', async () => {
    const one = visitor(`art_${'z'.repeat(24)}`);
    const told = new Told<ChannelEvent>();
    one.easel.channel().subscribe('json', told.take);
    await told.some(({ type }) => type === 'refused');
    expect([told.all, one.sockets.length]).toEqual([[{ type: 'refused', channel: 'json', code: 'ARTIFACT_NOT_FOUND' }], 1]);
  });
});

describe('who is here', () => {
  it('is reported as people join, move, lose the connection, return and leave', async () => {
    const own = await stage(easel);
    const ada = await collaborator(easel, own, 'viewer');
    const [one, two] = [page(own.owner.token, own.artifactId), page(ada.token, own.artifactId)];
    const seen: (readonly Present[])[] = [];
    one.easel.presence.on('change', (people) => seen.push(people));
    const hers = () => one.easel.presence.people.find(({ id }) => id === ada.userId)?.state;
    two.easel.presence.set({ x: 1 });
    await ticking(() => hers()?.x === 1);
    expect(one.easel.presence.people.map(({ id, isMe }) => [id, isMe])).toEqual(
      expect.arrayContaining([
        [ada.userId, false],
        [own.owner.userId, true],
      ]),
    );
    for (let x = 2; x < 60; x += 1) two.easel.presence.set({ x });
    await ticking(() => hers()?.x === 59);
    const back = two.away();
    await ticking(() => hers() === undefined);
    back();
    await ticking(() => hers()?.x === 59);
    two.easel.presence.leave();
    await ticking(() => hers() === undefined);
    expect([seen.at(-1)?.length, two.easel.presence.people, two.easel.state]).toEqual([1, [], 'idle']);
  });

  /** The service collects presence changes for one tick of its clock. */
  async function ticking(holds: () => boolean): Promise<void> {
    while (!holds()) {
      easel.clock.advance(50);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
});

describe('comments', () => {
  it('are created, replied to, edited, reacted to, resolved and deleted, and watchers get each change', async () => {
    const own = await stage(easel, { visibility: 'public' });
    const [one, two] = [page(own.owner.token, own.artifactId), page(own.owner.token, own.artifactId)];
    const { comments } = one.easel;
    const early = await comments.create('early');
    const told = new Told<CommentChange>();
    two.easel.comments.watch(told.take);
    await told.some(({ type }) => type === 'comments');
    const first = await comments.create({ content: 'first', contextId: '/', quote: { exact: 'text' } });
    const reply = await comments.reply(first.id, 'reply');
    await comments.edit(reply.id, 'better reply');
    expect((await comments.react(first.id, '👍')).reactions).toEqual({ '👍': { count: 1, mine: true } });
    await comments.resolve(first.id);
    expect((await comments.thread(reply.id)).comments.map(({ content }) => content)).toEqual(['first', 'better reply']);
    expect([await comments.delete(early.id), await comments.delete(early.id)]).toEqual([true, false]);
    await told.some(({ type }) => type === 'delete');
    const short = told.all.map((one) =>
      one.type === 'put' ? [one.kind, one.comment.content] : one.type === 'comments' ? one.comments.map(({ content }) => content) : one,
    );
    expect(short).toEqual([
      ['early'],
      ['added', 'first'],
      ['added', 'reply'],
      ['updated', 'better reply'],
      ['reaction', 'first'],
      ['resolved', 'first'],
      { type: 'delete', id: early.id },
    ]);
    two.cut();
    await comments.create('while away');
    await told.some((one) => one.type === 'put' && one.comment.content === 'while away');
    expect((await comments.list({ resolved: true, parentId: 'root' })).comments.map(({ content }) => content)).toEqual(['first']);
    expect((await comments.config()).enabled).toBe(true);
    expect((await comments.people()).you).toMatchObject({ id: own.owner.userId, role: 'owner' });
  });

  it('are filtered by context in a watch', async () => {
    const own = await stage(easel, { visibility: 'public' });
    const { comments } = page(own.owner.token, own.artifactId).easel;
    const told = new Told<CommentChange>();
    comments.watch(told.take, { contextId: 'here' });
    await told.some(({ type }) => type === 'comments');
    await comments.create({ content: 'elsewhere', contextId: 'there' });
    await comments.create({ content: 'mine', contextId: 'here' });
    await told.some(({ type }) => type === 'put');
    expect(told.all.slice(1)).toMatchObject([{ type: 'put', comment: { content: 'mine' } }]);
  });

  it('are refused while disabled, without affecting other watches', async () => {
    const own = await stage(easel, { visibility: 'public' });
    await callData(easel, { id: own.artifactId as ArtifactId }, 'PUT', '/comments/_config', {
      token: own.owner.token,
      body: { enabled: false },
    });
    const one = visitor(own.artifactId);
    const [told, json] = [new Told<CommentChange>(), new Told<ChannelEvent>()];
    one.easel.comments.watch(told.take);
    one.easel.channel().subscribe('json', json.take);
    await Promise.all([told.some(({ type }) => type === 'refused'), json.some(({ type }) => type === 'subscribed')]);
    expect(told.all).toEqual([{ type: 'refused', code: 'COMMENTS_DISABLED' }]);
  });

  it('are written by a guest with a verified address until the token expires', async () => {
    const own = await stage(easel, { visibility: 'public' });
    const artifact = { id: own.artifactId as ArtifactId };
    await callData(easel, artifact, 'PUT', '/comments/_config', { token: own.owner.token, body: { guestComments: true } });
    const one = visitor(own.artifactId);
    const { comments } = one.easel;
    const told = new Told<CommentChange>();
    comments.watch(told.take);
    const email = 'gail@example.com';
    await comments.guest.start({ email, name: 'Gail' });
    await comments.guest.verify({ email, code: await codeFor(easel, artifact, email) });
    expect([...one.kept.keys()]).toEqual([`easel-guest-${own.artifactId}`]);
    expect(await comments.create('hello')).toMatchObject({ authorName: 'Gail', authorType: 'guest' });
    await told.some((change) => change.type === 'put' && change.comment.authorName === 'Gail');
    expect(one.easel.channel().me).toMatchObject({ kind: 'guest', name: 'Gail' });
    const [token] = one.kept.values();
    const later = visitor(own.artifactId, token);
    expect((await later.easel.comments.people()).you).toMatchObject({ name: 'Gail', type: 'guest' });
    const stale = visitor(own.artifactId, `sog_${'0'.repeat(64)}`);
    expect((await stale.easel.comments.people()).you).toMatchObject({ id: null, name: null });
    const staleToo = visitor(own.artifactId, `sog_${'0'.repeat(64)}`);
    const heard = new Told<ChannelEvent>();
    staleToo.easel.channel().subscribe('json', heard.take);
    await heard.some(({ type }) => type === 'subscribed');
    expect([stale.forgotten, staleToo.forgotten, staleToo.easel.channel().me?.kind]).toEqual([1, 1, 'anonymous']);
    comments.guest.leave();
    expect([(await comments.people()).you.name, [...one.kept]]).toEqual([null, []]);
  });
});
