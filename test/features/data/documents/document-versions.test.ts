/** Versions of a document over HTTP. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DataArtifact, publishArtifact } from '../../../support/data-client.ts';
import { databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { ask, connected, fetchPart, must, outcome, write } from './document-stage.ts';

const append = (text: string) => ({ op: 'text.append', type: 'text', text });

describe.each(databaseKinds())('versions of a document: %s', (database) => {
  let easel: TestEasel;
  let artifact: DataArtifact;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
    artifact = await publishArtifact(easel, await easel.newUser('team'));
  });
  afterAll(() => easel.close());

  const keep = async (name: string, label?: string) =>
    must(ask(easel, artifact, 'POST', `/${name}/versions`, label === undefined ? {} : { label }));

  it('saves the current state, and still shows it after the document has changed', async () => {
    await must(write(easel, artifact, 'kept', append('first')));
    const version = await keep('kept', 'one');
    expect(version).toEqual({
      seq: version.seq,
      label: 'one',
      automatic: false,
      createdAt: new Date(easel.clock.nowMs()).toISOString(),
      createdBy: artifact.owner.userId,
      sizeBytes: expect.any(Number),
    });
    await must(write(easel, artifact, 'kept', append(' second')));
    expect((await must(ask(easel, artifact, 'GET', `/kept?seq=${version.seq}`))).content).toEqual({ text: 'first' });
    expect(await (await fetchPart(easel, artifact, `kept/text?seq=${version.seq}`)).text()).toBe('first');
    expect((await fetchPart(easel, artifact, `kept/update?seq=${version.seq}`)).headers.get('etag')).toBe(`"${version.seq}"`);
    expect((await must(ask(easel, artifact, 'GET', '/kept'))).content).toEqual({ text: 'first second' });
    expect(await outcome(ask(easel, artifact, 'GET', '/kept?seq=999999'))).toBe('404 VERSION_NOT_FOUND');
  });

  it('restores a version for connected clients, and keeps their later changes', async () => {
    await must(write(easel, artifact, 'back', append('good')));
    const { seq } = await keep('back');
    expect(await must(ask(easel, artifact, 'POST', '/back/restore', { seq }))).toEqual({ seq, restored: false });
    const [client, witness] = await Promise.all([connected(easel, artifact, 'back'), connected(easel, artifact, 'back')]);
    client.doc.getText('text').delete(0, 4);
    client.doc.getText('text').insert(0, 'bad');
    await witness.until((it) => it.doc.getText('text').toString() === 'bad');
    expect(await (await fetchPart(easel, artifact, 'back/text')).text()).toBe('bad');
    const done = await must(ask(easel, artifact, 'POST', '/back/restore', { seq }));
    expect([done.restored, done.seq > seq]).toEqual([true, true]);
    await client.until((it) => it.doc.getText('text').toString() === 'good');
    client.doc.getText('text').insert(4, '!');
    await witness.until((it) => it.doc.getText('text').toString() === 'good!');
    expect(await (await fetchPart(easel, artifact, 'back/text')).text()).toBe('good!');
    for (const each of [client, witness]) each.close();
    expect(await outcome(ask(easel, artifact, 'POST', '/back/restore', { seq: 999_999 }))).toBe('404 VERSION_NOT_FOUND');
    expect(await outcome(ask(easel, artifact, 'POST', '/never/restore', { seq }))).toBe('404 DOCUMENT_NOT_FOUND');
  });

  it('lists versions newest first in pages, relabels an existing one, and deletes one', async () => {
    const seqs: number[] = [];
    for (const label of ['a', 'b', 'c']) {
      await must(write(easel, artifact, 'many', append(label)));
      seqs.unshift((await keep('many', label)).seq);
    }
    await keep('many', 'newest');
    const first = await must(ask(easel, artifact, 'GET', '/many/versions?limit=2'));
    expect(first).toMatchObject({
      versions: [
        { seq: seqs[0], label: 'newest' },
        { seq: seqs[1], label: 'b' },
      ],
      hasMore: true,
    });
    const path = `/many/versions?limit=2&cursor=${first.nextCursor}`;
    expect(await must(ask(easel, artifact, 'GET', path))).toMatchObject({ versions: [{ seq: seqs[2], label: 'a' }], hasMore: false });
    expect(await must(ask(easel, artifact, 'DELETE', `/many/versions/${seqs[1]}`))).toEqual({ deleted: true });
    expect(await outcome(ask(easel, artifact, 'DELETE', `/many/versions/${seqs[1]}`))).toBe('404 VERSION_NOT_FOUND');
    const left = (await must(ask(easel, artifact, 'GET', '/many/versions'))).versions;
    expect(left.map(({ label }: { label: string }) => label)).toEqual(['newest', 'a']);
    expect((await must(ask(easel, artifact, 'GET', '/many'))).content).toEqual({ text: 'abc' });
  });

  it('does not inherit versions from a deleted document of the same name', async () => {
    await must(write(easel, artifact, 'again', append('old')));
    const { seq } = await keep('again');
    await must(ask(easel, artifact, 'DELETE', '/again'));
    expect(await outcome(ask(easel, artifact, 'GET', '/again/versions'))).toBe('404 DOCUMENT_NOT_FOUND');
    expect(await outcome(ask(easel, artifact, 'POST', '/again/versions', {}))).toBe('404 DOCUMENT_NOT_FOUND');
    await must(write(easel, artifact, 'again', append('new')));
    expect((await must(ask(easel, artifact, 'GET', '/again/versions'))).versions).toEqual([]);
    expect(await outcome(ask(easel, artifact, 'GET', `/again?seq=${seq}`))).toBe('404 VERSION_NOT_FOUND');
  });
});
