import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { RendererUnusable } from '../../../../src/features/artifacts/thumbnails/renderer.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { published } from '../../../support/requests.ts';
import { digestOf, FakeRenderer, laterPicture, PictureStage, pictureOf } from './picture-stage.ts';

let easel: TestEasel;
let stage: PictureStage;
beforeAll(async () => {
  easel = await startTestEasel();
});
beforeEach(() => {
  stage = new PictureStage(easel);
});
afterEach(async () => {
  await stage.close();
  await easel.sql`delete from thumbnail`;
});
afterAll(() => easel.close());

async function pagesOf(owner: TestUser, count: number) {
  const pages: { id: string; versionId: string; slug: string }[] = [];
  for (let made = 0; made < count; made += 1) pages.push(await published(easel, owner));
  return pages;
}

const idsOf = (pages: readonly { readonly id: string }[]) => pages.map(({ id }) => id);
const slugsOf = (pages: readonly { readonly slug: string }[]) => pages.map(({ slug }) => slug);

test('what is asked for is drawn once and stored by its content', async () => {
  const pages = await pagesOf(await easel.newUser(), 2);
  const { ask, renderer, objects } = await stage.node();
  await ask(idsOf(pages));
  await ask(idsOf(pages));
  expect(renderer.drawn.toSorted()).toEqual(slugsOf(pages).toSorted());
  const pictures = slugsOf(pages).map((slug) => pictureOf(slug));
  expect(await stage.rows(idsOf(pages))).toEqual(
    pages.map(({ id, versionId }, at) => ({
      ...{ id, version: versionId, attempts: 1, dueAtMs: null },
      sha256: digestOf(pictures[at] ?? Buffer.alloc(0)),
    })),
  );
  for (const picture of pictures) expect(await objects.read(digestOf(picture))).toEqual(picture);
});

test('owners take turns, so that one with many pages delays another by one page', async () => {
  const [many, few] = [await pagesOf(await easel.newUser(), 5), await pagesOf(await easel.newUser(), 2)];
  const node = await stage.node();
  const first = laterPicture();
  node.renderer.draws = (slug) => {
    easel.clock.advance(1);
    return node.renderer.drawn.length === 1 ? first.promise : pictureOf(slug);
  };
  const all = node.ask(idsOf(many));
  await expect.poll(() => node.renderer.drawn.length).toBe(1);
  const others = node.ask(idsOf(few));
  first.resolve(pictureOf('first'));
  await Promise.all([all, others]);
  const owners = node.renderer.drawn.map((slug) => (slugsOf(few).includes(slug) ? 'few' : 'many'));
  expect(owners).toEqual(['many', 'few', 'many', 'few', 'many', 'many', 'many']);
});

test('a page that fails is tried once more after a pause, and then not before its next version', async () => {
  const owner = await easel.newUser();
  const [page] = await pagesOf(owner, 1);
  const id = page?.id ?? '';
  const { ask, queue, renderer } = await stage.node();
  renderer.draws = () => Promise.reject(new Error('an endless loop'));
  await ask([id]);
  expect(renderer.drawn.length).toBe(1);
  expect((await stage.rows([id]))[0]).toMatchObject({ attempts: 1, dueAtMs: easel.clock.nowMs() + 60_000, sha256: null });
  await ask([id]);
  expect(renderer.drawn.length).toBe(1);
  easel.clock.advance(60_000);
  await queue.idle();
  expect(renderer.drawn.length).toBe(2);
  expect((await stage.rows([id]))[0]).toMatchObject({ attempts: 2, dueAtMs: null, sha256: null });
  easel.clock.advance(24 * 3_600_000);
  await ask([id]);
  expect(renderer.drawn.length).toBe(2);
  renderer.draws = pictureOf;
  const next = await published(easel, owner, { artifact_id: id });
  await ask([id]);
  expect(renderer.drawn.length).toBe(3);
  expect((await stage.rows([id]))[0]).toMatchObject({ version: next.versionId, attempts: 1, dueAtMs: null });
});

test.each([
  ['is no WebP', Buffer.from('<script>alert(1)</script>')],
  ['is too large', Buffer.concat([pictureOf('large'), Buffer.alloc(100 * 1024)])],
])('what a browser makes is not kept where it %s', async (_, bytes) => {
  const [page] = await pagesOf(await easel.newUser(), 1);
  const { ask, renderer } = await stage.node();
  renderer.draws = () => bytes;
  await ask([page?.id ?? '']);
  expect(renderer.drawn.length).toBe(1);
  expect((await stage.rows([page?.id ?? '']))[0]).toMatchObject({ attempts: 1, sha256: null });
});

test('of several processes one draws a page', async () => {
  const pages = await pagesOf(await easel.newUser(), 4);
  const nodes = await Promise.all([stage.node(), stage.node(), stage.node()]);
  await Promise.all(nodes.map(({ ask }) => ask(idsOf(pages))));
  expect(nodes.flatMap(({ renderer }) => renderer.drawn).toSorted()).toEqual(slugsOf(pages).toSorted());
  expect((await stage.rows(idsOf(pages))).every(({ sha256 }) => sha256 !== null)).toBe(true);
});

test('what a process that died was drawing is drawn by another when the lease has ended, and counts as an attempt', async () => {
  const [page] = await pagesOf(await easel.newUser(), 1);
  const id = page?.id ?? '';
  const died = await stage.node();
  const never = laterPicture();
  died.renderer.draws = () => never.promise;
  const dying = died.ask([id]);
  await expect.poll(() => died.renderer.drawn.length).toBe(1);
  const { ask, queue, renderer } = await stage.node();
  await ask([id]);
  expect(renderer.drawn).toEqual([]);
  for (let minute = 0; minute < 3; minute += 1) {
    easel.clock.advance(60_000);
    await queue.idle();
  }
  expect(renderer.drawn).toEqual([page?.slug]);
  expect((await stage.rows([id]))[0]).toMatchObject({ attempts: 2, dueAtMs: null, sha256: digestOf(pictureOf(page?.slug ?? '')) });
  never.resolve(pictureOf(page?.slug ?? ''));
  await dying;
});

test('a stop ends the page that is being drawn, gives its attempt back, and another process goes on', async () => {
  const pages = await pagesOf(await easel.newUser(), 2);
  const stopped = await stage.node();
  stopped.renderer.draws = (_, signal) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('the browser was killed'))));
  const asked = stopped.ask(idsOf(pages));
  await expect.poll(() => stopped.renderer.drawn.length).toBe(1);
  await Promise.all([stopped.queue.stop(), asked]);
  expect((await stage.rows(idsOf(pages))).map(({ attempts, dueAtMs }) => [attempts, dueAtMs])).toEqual(
    pages.map(() => [0, easel.clock.nowMs()]),
  );
  const { queue, renderer } = await stage.node();
  queue.start();
  easel.clock.advance(60_000);
  await queue.idle();
  expect(renderer.drawn.toSorted()).toEqual(slugsOf(pages).toSorted());
});

test('without a browser nothing is recorded; where it turns out to be unusable, the page keeps its attempts', async () => {
  const [page] = await pagesOf(await easel.newUser(), 1);
  const id = page?.id ?? '';
  const without = new FakeRenderer();
  without.usable = false;
  await (await stage.node(without)).ask([id]);
  expect(await stage.rows([id])).toEqual([]);
  const { ask, renderer } = await stage.node();
  renderer.draws = () => {
    renderer.usable = false;
    throw new RendererUnusable('it cannot use its sandbox');
  };
  await ask([id]);
  expect(renderer.drawn.length).toBe(1);
  expect((await stage.rows([id]))[0]).toMatchObject({ attempts: 0, dueAtMs: easel.clock.nowMs() });
});

test('what is no longer live when its turn comes is not drawn', async () => {
  const owner = await easel.newUser();
  const [page, trashed] = await pagesOf(owner, 2);
  const first = await stage.node();
  const drawing = laterPicture();
  first.renderer.draws = () => drawing.promise;
  const asked = first.ask([page?.id ?? '']);
  await expect.poll(() => first.renderer.drawn.length).toBe(1);
  const second = first.ask([trashed?.id ?? '']);
  const deleted = await easel.fetch(`/v1/artifacts/${trashed?.id}`, { method: 'DELETE', token: owner.token });
  expect(deleted.status).toBe(200);
  await published(easel, owner, { artifact_id: page?.id });
  drawing.resolve(pictureOf('old'));
  await Promise.all([asked, second]);
  expect(first.renderer.drawn).toEqual([page?.slug]);
  expect(await stage.rows([trashed?.id ?? ''])).toEqual([]);
});
