/** Documents over HTTP, with and without connected clients. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as Y from 'yjs';
import { callData, type DataArtifact, publishArtifact } from '../../../support/data-client.ts';
import { databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { ask, connected, copyOf, fetchPart, must, outcome, sendUpdate, updateOf, write } from './document-stage.ts';

const append = (text: string, type = 'text') => ({ op: 'text.append', type, text });
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

describe.each(databaseKinds())('documents over HTTP: %s', (database) => {
  let easel: TestEasel;
  let artifact: DataArtifact;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
    artifact = await publishArtifact(easel, await easel.newUser('team'));
  });
  afterAll(() => easel.close());

  it('shows the content and the kind of every shared type', async () => {
    await must(sendUpdate(easel, artifact, 'kinds', updateOf(everyKind)));
    const { data } = (await ask(easel, artifact, 'GET', '/kinds')).body;
    expect(data).toEqual({
      name: 'kinds',
      seq: expect.any(Number),
      types: { text: 'text', list: 'array', map: 'map', xml: 'xml', gone: 'empty', rich: 'text', maps: 'array' },
      content: {
        text: 'Hello',
        list: [1, null, { a: [true] }, 'AQI=', { big: ['9007199254740993', 7] }],
        map: { name: 'Ada', inner: { deep: ['x'] } },
        xml: '<p class="a">one</p>two',
        gone: null,
        rich: 'ab',
        maps: [{ n: 1 }],
      },
    });
  });

  it('answers one text as plain text, and names the texts when the choice is ambiguous', async () => {
    await must(write(easel, artifact, 'single', append('Größe', 'content'), { op: 'map.set', type: 'meta', key: 'a', value: 1 }));
    const reply = await fetchPart(easel, artifact, 'single/text');
    expect([reply.headers.get('content-type'), await reply.text()]).toEqual(['text/plain; charset=utf-8', 'Größe']);
    const wrong = await ask(easel, artifact, 'GET', '/single/text?type=meta');
    expect([wrong.status, wrong.body.code, wrong.body.param, wrong.body.hint]).toEqual([
      400,
      'INVALID_REQUEST',
      'type',
      'Its texts: content.',
    ]);
    await must(write(easel, artifact, 'single', append('more', 'second')));
    expect((await ask(easel, artifact, 'GET', '/single/text')).body.hint).toBe('Its texts: content, second.');
    expect(await (await fetchPart(easel, artifact, 'single/text?type=second')).text()).toBe('more');
    await must(write(easel, artifact, 'numbers', { op: 'array.push', type: 'list', values: [1] }));
    expect((await ask(easel, artifact, 'GET', '/numbers/text')).body.hint).toBe('Its shared types: list (array).');
  });

  it('carries the seq of its last change as ETag, and answers 304 without spending a call', async () => {
    const { seq } = await must(write(easel, artifact, 'tagged', append('a')));
    for (const path of ['tagged', 'tagged/text', 'tagged/update']) {
      const reply = await fetchPart(easel, artifact, path);
      expect([path, reply.status, reply.headers.get('etag')]).toEqual([path, 200, `"${seq}"`]);
      await reply.arrayBuffer();
      const headers = { 'if-none-match': `"${seq}"` };
      const again = await easel.fetch(`/v1/data/${artifact.id}/documents/${path}`, { token: artifact.owner.token, headers });
      expect([again.status, again.headers.get('ratelimit'), await again.text()]).toEqual([304, null, '']);
    }
  });

  it('merges a write with the changes of a connected client, who sees it at once', async () => {
    const client = await connected(easel, artifact, 'shared');
    client.doc.getText('text').insert(0, 'typed ');
    await client.until((it) => it.durableClock > 0);
    await must(write(easel, artifact, 'shared', append('written'), { op: 'map.set', type: 'meta', key: 'by', value: { who: 'server' } }));
    await client.until((it) => it.doc.getText('text').toString() === 'typed written' && it.doc.getMap('meta').has('by'));
    client.doc.getText('text').delete(0, 6);
    await must(
      sendUpdate(
        easel,
        artifact,
        'shared',
        updateOf((doc) => doc.getArray('list').push([1])),
      ),
    );
    await client.until((it) => it.doc.getArray('list').length === 1);
    const [listed] = (await must(ask(easel, artifact, 'GET', '?limit=100'))).documents.filter(
      (each: { name: string }) => each.name === 'shared',
    );
    expect(listed).toMatchObject({ connected: 1 });
    const witness = await connected(easel, artifact, 'shared');
    await witness.until((it) => it.doc.getText('text').toString() === 'written');
    for (const each of [client, witness]) each.close();
    expect((await must(ask(easel, artifact, 'GET', '/shared'))).content).toEqual({
      text: 'written',
      meta: { by: { who: 'server' } },
      list: [1],
    });
  });

  it('applies every kind of operation, each to the state that the preceding ones leave', async () => {
    await must(
      write(
        easel,
        artifact,
        'ops',
        append('held'),
        { op: 'text.insert', type: 'text', index: 2, text: '😀' },
        { op: 'text.delete', type: 'text', index: 4, length: 2 },
        { op: 'map.set', type: 'map', key: '__proto__', value: 1 },
        { op: 'map.set', type: 'map', key: 'gone', value: [1] },
        { op: 'map.delete', type: 'map', key: 'gone' },
        { op: 'array.push', type: 'list', values: ['b', null] },
        { op: 'array.insert', type: 'list', index: 0, values: ['a'] },
        { op: 'array.delete', type: 'list', index: 2 },
      ),
    );
    const { content } = await must(ask(easel, artifact, 'GET', '/ops'));
    expect([content.text, JSON.stringify(content.map), content.list]).toEqual(['he😀', '{"__proto__":1}', ['a', 'b']]);
  });

  it('applies all operations or none, and does not disturb connected clients with refused ones', async () => {
    const client = await connected(easel, artifact, 'careful');
    await must(write(easel, artifact, 'careful', append('abc'), { op: 'map.set', type: 'map', key: 'a', value: 1 }));
    const refused = async (...ops: object[]) => {
      const { status, body } = await write(easel, artifact, 'careful', append('!'), ...ops);
      return [status, body.code, body.param];
    };
    expect(await refused({ op: 'text.insert', type: 'text', index: 5, text: 'x' })).toEqual([400, 'INVALID_REQUEST', 'ops.1.index']);
    expect(await refused({ op: 'text.delete', type: 'text', index: 3, length: 2 })).toEqual([400, 'INVALID_REQUEST', 'ops.1.length']);
    expect(await refused({ op: 'array.push', type: 'map', values: [1] })).toEqual([400, 'INVALID_REQUEST', 'ops.1.type']);
    expect(await refused({ op: 'map.set', type: 'text', key: 'a', value: 1 })).toEqual([400, 'INVALID_REQUEST', 'ops.1.type']);
    const twice = [{ op: 'map.set', type: 'new', key: 'a', value: 1 }, append('x', 'new')];
    expect(await refused(...twice)).toEqual([400, 'INVALID_REQUEST', 'ops.2.type']);
    expect(await refused(append('\ud800'))).toEqual([400, 'INVALID_REQUEST', 'ops.1.text']);
    expect(await refused({ op: 'map.set', type: 'map', key: 'a', value: { b: ['\udc00'] } })).toEqual([
      400,
      'INVALID_REQUEST',
      'ops.1.value',
    ]);
    expect(await refused({ op: 'map.set', type: 'map', key: 'a' })).toEqual([400, 'INVALID_REQUEST', 'ops.1.value']);
    await must(write(easel, artifact, 'careful', append('.')));
    await client.until((it) => it.doc.getText('text').toString() === 'abc.');
    expect([client.opened, [...client.doc.share.keys()].includes('new')]).toEqual([1, false]);
    client.close();
  });

  it('honours If-Match and If-None-Match', async () => {
    const guarded = (headers: Record<string, string>) =>
      callData(easel, artifact, 'POST', '/documents/guarded', { token: artifact.owner.token, body: { ops: [append('a')] }, headers });
    const first = await guarded({ 'if-none-match': '*' });
    expect(first.status).toBe(200);
    expect(await outcome(guarded({ 'if-none-match': '*' }))).toBe('409 VERSION_CONFLICT');
    const etag = first.headers.get('etag') ?? '';
    expect((await guarded({ 'if-match': etag })).status).toBe(200);
    const late = await guarded({ 'if-match': etag });
    expect([late.status, late.headers.get('etag')]).toEqual([409, `"${(await must(ask(easel, artifact, 'GET', '/guarded'))).seq}"`]);
    expect(await (await fetchPart(easel, artifact, 'guarded/text')).text()).toBe('aa');
  });

  it('keeps its client id when the document leaves memory between writes', async () => {
    for (const text of ['a', 'b', 'c']) {
      await must(write(easel, artifact, 'frugal', append(text)));
      await easel.runtime.discard(artifact.id);
    }
    const copy = await copyOf(easel, artifact, 'frugal');
    expect([copy.getText('text').toString(), copy.store.clients.size]).toEqual(['abc', 1]);
  });

  it('applies an update once, and refuses bytes that are not an update', async () => {
    const update = updateOf((doc) => doc.getText('text').insert(0, 'once'));
    const { seq, applied } = await must(sendUpdate(easel, artifact, 'updated', update));
    expect(applied).toBe(1);
    expect(await must(sendUpdate(easel, artifact, 'updated', update))).toEqual({ seq, applied: 0 });
    expect(await outcome(sendUpdate(easel, artifact, 'updated', new Uint8Array([9, 9, 9])))).toBe('400 INVALID_UPDATE');
    expect(await must(sendUpdate(easel, artifact, 'untouched', new Uint8Array([0, 0])))).toEqual({ seq: 0, applied: 0 });
    expect(await outcome(ask(easel, artifact, 'GET', '/untouched'))).toBe('404 DOCUMENT_NOT_FOUND');
  });

  it('lists documents by name in pages, and deletes one that is open', async () => {
    const other = await publishArtifact(easel, artifact.owner);
    for (const name of ['c', 'a', 'b']) await must(write(easel, other, name, append(name)));
    const first = await must(ask(easel, other, 'GET', '?limit=2'));
    expect(first).toMatchObject({
      documents: [{ name: 'a', connected: 0, createdAt: time, updatedAt: time }, { name: 'b' }],
      hasMore: true,
    });
    const rest = await must(ask(easel, other, 'GET', `?limit=2&cursor=${first.nextCursor}`));
    expect(rest).toMatchObject({ documents: [{ name: 'c' }], hasMore: false, nextCursor: null });
    expect(await outcome(ask(easel, other, 'GET', '?cursor=!'))).toBe('400 INVALID_REQUEST');
    const client = await connected(easel, other, 'b');
    client.disconnect();
    expect(await must(ask(easel, other, 'DELETE', '/b'))).toEqual({ deleted: true });
    expect(await outcome(ask(easel, other, 'DELETE', '/b'))).toBe('404 DOCUMENT_NOT_FOUND');
    expect((await must(ask(easel, other, 'GET'))).documents.map(({ name }: { name: string }) => name)).toEqual(['a', 'c']);
    client.close();
  });

  it('everybody who may read the data reads, and only collaborators write', async () => {
    const shown = await publishArtifact(easel, artifact.owner, { visibility: 'public' });
    const [stranger, viewer, editor] = await Promise.all([easel.newUser(), easel.newUser(), easel.newUser()]);
    await easel.sql`
      insert into collaborator (artifact_id, user_id, role, added_at_ms)
      values (${shown.id}, ${viewer.userId}, 'viewer', 0), (${shown.id}, ${editor.userId}, 'editor', 0)`;
    await must(write(easel, shown, 'notes', append('a')));
    const body = { ops: [append('b')] };
    const tried = async (by: { token: string } | null) =>
      Promise.all([
        outcome(ask(easel, shown, 'GET', '/notes', undefined, by)),
        outcome(ask(easel, shown, 'POST', '/notes', body, by)),
        outcome(ask(easel, shown, 'POST', '/notes/versions', {}, by)),
        outcome(ask(easel, shown, 'DELETE', '/none', undefined, by)),
      ]);
    expect(await tried(null)).toEqual(['200', '401 UNAUTHORIZED', '401 UNAUTHORIZED', '401 UNAUTHORIZED']);
    expect(await tried(stranger)).toEqual(['200', '403 FORBIDDEN', '403 FORBIDDEN', '403 FORBIDDEN']);
    expect(await tried(viewer)).toEqual(['200', '403 FORBIDDEN', '403 FORBIDDEN', '403 FORBIDDEN']);
    expect(await tried(editor)).toEqual(['200', '200', '201', '404 DOCUMENT_NOT_FOUND']);
    const open = {
      method: 'PATCH',
      token: shown.owner.token,
      body: '{"allow_anon_collab":true}',
      headers: { 'content-type': 'application/json' },
    };
    expect((await easel.fetch(`/v1/artifacts/${shown.id}`, open)).status).toBe(200);
    expect(await tried(null)).toEqual(['200', '200', '401 UNAUTHORIZED', '401 UNAUTHORIZED']);
  });

  it('reads a large document from the store with the same result', async () => {
    const text = 'line\n'.repeat(60_000);
    await must(
      sendUpdate(
        easel,
        artifact,
        'large',
        updateOf((doc) => doc.getText('text').insert(0, text)),
      ),
    );
    const { seq } = await must(write(easel, artifact, 'large', { op: 'map.set', type: 'map', key: 'a', value: 1 }));
    await easel.runtime.discard(artifact.id);
    const shown = await ask(easel, artifact, 'GET', '/large');
    expect([shown.headers.get('etag'), shown.body.data.seq, shown.body.data.types]).toEqual([
      `"${seq}"`,
      seq,
      { text: 'text', map: 'map' },
    ]);
    expect(shown.body.data.content).toEqual({ text, map: { a: 1 } });
    expect(await (await fetchPart(easel, artifact, 'large/text')).text()).toBe(text);
    expect((await copyOf(easel, artifact, 'large')).getText('text').length).toBe(text.length);
    expect(await outcome(ask(easel, artifact, 'GET', '/large/text?type=map'))).toBe('400 INVALID_REQUEST');
  });

  it('refuses JSON of a document that is too large for it, but answers its text and its update', async () => {
    // Each character takes six bytes as JSON.
    const text = '\u0001'.repeat(3_000_000);
    await must(
      sendUpdate(
        easel,
        artifact,
        'huge',
        updateOf((doc) => doc.getText('text').insert(0, text)),
      ),
    );
    expect(await outcome(ask(easel, artifact, 'GET', '/huge'))).toBe('413 DOCUMENT_TOO_LARGE');
    expect((await (await fetchPart(easel, artifact, 'huge/text')).text()).length).toBe(text.length);
    expect((await copyOf(easel, artifact, 'huge')).getText('text').length).toBe(text.length);
  });

  it.each([
    ['small', 6000, 1],
    ['large', 20_000, 300_000],
  ])('refuses extremely deep nesting in a %s document', async (name, depth, bytes) => {
    const nest = (doc: Y.Doc) => {
      let map: Y.Map<unknown> = doc.getMap('m');
      for (let level = 0; level < depth; level += 1) {
        const inner = new Y.Map();
        map.set('', inner);
        map = inner;
      }
    };
    const nested = `nested-${name}`;
    await must(sendUpdate(easel, artifact, nested, updateOf(nest)));
    await must(write(easel, artifact, nested, append('x'.repeat(bytes))));
    expect(await outcome(ask(easel, artifact, 'GET', `/${nested}`))).toBe('413 DOCUMENT_TOO_LARGE');
    expect((await fetchPart(easel, artifact, `${nested}/text`)).status).toBe(200);
  });
});

function everyKind(doc: Y.Doc): void {
  doc.getText('text').insert(0, 'Hello');
  doc.getArray('list').push([1, null, { a: [true] }, new Uint8Array([1, 2]), { big: [9007199254740993n, 7n] }]);
  doc.getMap('map').set('name', 'Ada');
  doc.getMap('map').set('inner', new Y.Map([['deep', Y.Array.from(['x'])]]));
  doc.getMap('map').set('gone', 1);
  doc.getMap('map').delete('gone');
  const paragraph = new Y.XmlElement('p');
  paragraph.setAttribute('class', 'a');
  paragraph.insert(0, [new Y.XmlText('one')]);
  doc.getXmlFragment('xml').insert(0, [paragraph, new Y.XmlText('two')]);
  doc.getText('gone').insert(0, 'x');
  doc.getText('gone').delete(0, 1);
  doc.getText('rich').insertEmbed(0, { image: 1 });
  doc.getText('rich').insert(1, 'ab', { bold: true });
  doc.getArray('maps').push([new Y.Map([['n', 1]])]);
}
