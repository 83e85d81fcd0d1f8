/** easel.doc against the service: edits reach the others, nothing is lost, and refusals are reported. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as Y from 'yjs';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import { UPDATE_BYTES_MAX } from '../../src/clients/page/doc-session.ts';
import { change, collaborator, type Stage, stage } from '../realtime/realtime-stage.ts';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { type Doc, docUntil, type LivePage, livePage } from './live-page.ts';

let easel: TestEasel;
let set: Stage;
beforeAll(async () => {
  easel = await startTestEasel();
  set = await stage(easel);
});
afterAll(() => easel.close());

function page(token: string | undefined = set.owner.token, artifactId = set.artifactId): LivePage {
  return livePage({ baseUrl: easel.baseUrl, artifactId, token });
}

/** Somebody without an account. */
function visitor(artifactId: string): LivePage {
  return livePage({ baseUrl: easel.baseUrl, artifactId });
}

const textOf = ({ doc }: Doc) => doc.getText('text').toString();
const write = ({ doc }: Doc, text: string) => doc.getText('text').insert(doc.getText('text').length, text);
const has = (doc: Doc, text: string) => docUntil(doc, () => textOf(doc) === text);
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.fail('it did not fail'),
    (error: unknown) => error,
  );

describe('a shared document', () => {
  it('is read and written, updates others immediately, and reports when it is saved', async () => {
    const [one, two] = [page(), page()];
    const [a, b] = [await one.doc('notes'), await two.doc('notes')];
    expect([a.state, a.hasUnsaved, a.readOnly]).toEqual(['connecting', false, false]);
    await Promise.all([a.synced, b.synced]);
    expect([a.state, one.easel.state]).toEqual(['live', 'live']);
    const unsaved: boolean[] = [];
    a.on('unsaved', (is) => unsaved.push(is));
    write(a, 'hello');
    expect(a.hasUnsaved).toBe(true);
    await Promise.all([a.saved(), has(b, 'hello')]);
    expect(unsaved).toEqual([true, false]);
    const later = await page().doc('notes');
    await later.synced;
    expect([textOf(later), later.hasUnsaved]).toEqual(['hello', false]);
  });

  it('is the same object for all callers of a page, and several documents share a socket', async () => {
    const one = page();
    const [first, again, other] = [await one.doc('same'), await one.doc('same'), await one.doc('other')];
    expect(again).toBe(first);
    await Promise.all([first.synced, other.synced]);
    expect(one.sockets.length).toBe(1);
    first.destroy();
    write(other, 'still here');
    await other.saved();
    const anew = await one.doc('same');
    expect(anew).not.toBe(first);
    await anew.synced;
    other.destroy();
    anew.destroy();
    expect([anew.state, one.easel.state]).toEqual(['idle', 'idle']);
    expect(await failure(anew.saved())).toMatchObject({ code: 'CLOSED' });
  });

  it('accepts edits while offline, and sends them once connected', async () => {
    const [one, two] = [page(), page()];
    const [a, b] = [await one.doc('offline'), await two.doc('offline')];
    write(a, 'early ');
    expect(a.hasUnsaved).toBe(true);
    await a.saved();
    await has(b, 'early ');
    const back = one.away();
    await docUntil(a, () => a.state !== 'live');
    write(a, 'away');
    write(b, 'there ');
    await b.saved();
    expect([a.hasUnsaved, textOf(a)]).toEqual([true, 'early away']);
    back();
    await a.saved();
    await Promise.all([docUntil(a, () => textOf(a).includes('there')), docUntil(b, () => textOf(b).includes('away'))]);
    expect([textOf(a), a.state, one.sockets.length]).toEqual([textOf(b), 'live', 2]);
  });

  it('reconnects after its artifact has moved, and resends unacknowledged edits', async () => {
    const one = page();
    const doc = await one.doc('moved');
    await doc.synced;
    for (let round = 0; round < 3; round += 1) {
      write(doc, `${round}`);
      await easel.runtime.discard(set.artifactId as ArtifactId);
      await doc.saved();
    }
    const later = await page().doc('moved');
    await later.synced;
    expect(textOf(later)).toBe('012');
  });

  it('uses an existing Y.Doc of the page', async () => {
    const own = new Y.Doc();
    own.getText('text').insert(0, 'brought');
    const one = page();
    const doc = await one.easel.doc<typeof Y>('brought', { Y, doc: own });
    expect([doc.doc, doc.hasUnsaved]).toEqual([own, true]);
    await doc.saved();
    own.destroy();
    expect(doc.state).toBe('idle');
    const later = await page().doc('brought');
    await later.synced;
    expect(textOf(later)).toBe('brought');
  });
});

describe('access', () => {
  it('a viewer reads, keeps edits local, and sends them once writing is allowed', async () => {
    const own = await stage(easel);
    const viewer = await collaborator(easel, own, 'viewer');
    const writer = await page(own.owner.token, own.artifactId).doc('roles');
    write(writer, 'read me');
    await writer.saved();
    const reader = await page(viewer.token, own.artifactId).doc('roles');
    await reader.synced;
    expect([reader.readOnly, textOf(reader), reader.hasUnsaved]).toEqual([true, 'read me', false]);
    write(reader, '!');
    expect(reader.hasUnsaved).toBe(true);
    const role = async (name: string) => {
      await easel.sql`update collaborator set role = ${name} where artifact_id = ${own.artifactId}`;
      await change(easel, own, { name: `now ${name}` });
    };
    await role('editor');
    await Promise.all([reader.saved(), has(writer, 'read me!')]);
    await role('viewer');
    await docUntil(reader, () => reader.readOnly);
    write(reader, '?');
    expect([reader.hasUnsaved, textOf(writer)]).toEqual([true, 'read me!']);
  });

  it('a denied visitor gets the reason, and no further attempt is made', async () => {
    const own = await stage(easel, { visibility: 'public' });
    const one = visitor(own.artifactId);
    const errors: string[] = [];
    one.easel.on('error', ({ code }) => errors.push(code));
    const doc = await one.doc('closed');
    expect(await failure(doc.synced)).toMatchObject({ code: 'UNAUTHORIZED' });
    expect([doc.state, one.easel.state, errors, one.sockets.length]).toEqual(['refused', 'refused', ['UNAUTHORIZED'], 1]);
    await change(easel, own, { allow_anon_collab: true });
    const open = await one.doc('closed');
    await open.synced;
    expect([open.state, open.readOnly, one.easel.state]).toEqual(['live', false, 'live']);
    await change(easel, own, { allow_anon_collab: false });
    await docUntil(open, () => open.state === 'refused');
    expect(await failure(open.saved())).toMatchObject({ code: 'UNAUTHORIZED' });
  });

  it('a missing artifact, an invalid token and an invalid name are refused', async () => {
    const missing = await visitor(`art_${'z'.repeat(24)}`).doc('notes');
    expect(await failure(missing.synced)).toMatchObject({ code: 'ARTIFACT_NOT_FOUND' });
    const stranger = await page('so_nobody').doc('notes');
    expect(await failure(stranger.synced)).toMatchObject({ code: 'UNAUTHORIZED' });
    expect(await failure(page().doc('no name'))).toMatchObject({ code: 'INVALID_DOCUMENT_NAME' });
  });

  it('a change that is too large is refused before it is sent', async () => {
    expect(UPDATE_BYTES_MAX).toBe(LIMITS.updateBytesMax);
    const one = page();
    const [doc, other] = [await one.doc('large'), await one.doc('small')];
    await Promise.all([doc.synced, other.synced]);
    write(doc, 'x'.repeat(UPDATE_BYTES_MAX));
    expect(doc.state).toBe('refused');
    expect(await failure(doc.saved())).toMatchObject({ code: 'UPDATE_REFUSED' });
    write(other, 'goes on');
    await other.saved();
  });
});

describe('awareness', () => {
  it('has names verified by the server, ends with the document, and returns after a lost connection', async () => {
    const [one, two] = [page(), page()];
    const [a, b] = [await one.doc('cursors'), await two.doc('cursors')];
    const others = (doc: Doc) => [...doc.awareness.getStates()].filter(([id]) => id !== doc.doc.clientID).map(([, state]) => state);
    b.awareness.setLocalState({ cursor: 7, user: { id: 'somebody else' } });
    await docUntil(a, () => others(a)[0]?.cursor === 7);
    expect(others(a)).toEqual([{ cursor: 7, user: expect.objectContaining({ id: set.owner.userId, kind: 'human' }) }]);
    // A quick return is told as one change: whoever is here sees nobody leave.
    two.cut();
    b.awareness.setLocalState({ cursor: 8 });
    await docUntil(a, () => others(a)[0]?.cursor === 8);
    one.cut();
    b.awareness.setLocalState({ cursor: 9 });
    await docUntil(a, () => others(a)[0]?.cursor === 9);
    b.destroy();
    await docUntil(a, () => others(a).length === 0);
  });
});
