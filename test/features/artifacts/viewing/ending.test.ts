/** What ends the access of somebody who is on a page as themselves: also for sockets of every protocol, streams and calls that are open. */
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { createEncoder, toUint8Array, writeVarString, writeVarUint } from 'lib0/encoding';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { CLOSE } from '../../../../protocol/core/close-codes.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { DataArtifact } from '../../../support/data-client.ts';
import { startTestEasel } from '../../../support/easel.ts';
import type { SignedInVisitor } from '../../../support/page-visitor.ts';
import { patchPage, share, type ViewStage, visited } from './view-stage.ts';

let stage: ViewStage;
beforeAll(async () => {
  const easel = await startTestEasel();
  stage = { easel, owner: await easel.newUser('team') };
});
afterAll(() => stage.easel.close());

interface Visit {
  readonly page: DataArtifact;
  readonly visitor: SignedInVisitor;
}

function headersOf({ page, visitor }: Visit): Record<string, string> {
  return { host: visitor.hostOf(page.slug), cookie: visitor.cookieHeader(page.slug), origin: stage.easel.contentUrl(page.slug) };
}

/** A socket of the page; `frame` is sent first. Settles with the server's first frame; `ended` with the code. */
async function socket(visit: Visit, path: string, frame?: Uint8Array | string): Promise<{ readonly ended: Promise<number> }> {
  const peer = new WebSocket(`ws://127.0.0.1:${stage.easel.port}/v1/data/${visit.page.id}${path}`, { headers: headersOf(visit) });
  onTestFinished(() => peer.terminate());
  const ended = once(peer, 'close').then(([code]) => code as number);
  const told = once(peer, 'message');
  await once(peer, 'open');
  if (frame !== undefined) peer.send(frame);
  await told;
  return { ended };
}

function hocuspocusAuth(document: string): Uint8Array {
  const frame = createEncoder();
  writeVarString(frame, document);
  writeVarUint(frame, 2);
  writeVarUint(frame, 0);
  writeVarString(frame, '');
  return toUint8Array(frame);
}

function call(visit: Visit, method: string, path: string, headers: Readonly<Record<string, string>> = {}): ClientRequest {
  const sent = request({
    host: '127.0.0.1',
    port: stage.easel.port,
    path: `/v1/data/${visit.page.id}${path}`,
    method,
    headers: { ...headersOf(visit), ...headers },
    agent: false,
  });
  sent.on('error', () => undefined);
  onTestFinished(() => void sent.destroy());
  return sent;
}

async function stream(visit: Visit): Promise<{ readonly ended: Promise<unknown> }> {
  const sent = call(visit, 'GET', '/changes', { accept: 'text/event-stream' });
  sent.end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const ended = Promise.race([once(answer, 'end'), once(answer, 'close')]);
  await once(answer, 'data');
  return { ended };
}

/** A write whose body is still on its way. */
async function upload(visit: Visit): Promise<{ readonly ended: Promise<number> }> {
  const sent = call(visit, 'PUT', '/json/late', { 'content-type': 'application/json', 'content-length': '1000' });
  sent.write('"begun');
  const ended = once(sent, 'response').then(([answer]) => (answer as IncomingMessage).statusCode ?? 0);
  // The server has the head and the beginning once another call, sent later, is answered.
  expect((await visit.visitor.data(visit.page, 'GET', '/json/shown')).status).toBe(200);
  return { ended };
}

async function everythingOpen(visit: Visit) {
  return {
    channels: await socket(visit, '/channels'),
    yWebsocket: await socket(visit, '/realtime/notes'),
    hocuspocus: await socket(visit, '/realtime', hocuspocusAuth('notes')),
    stream: await stream(visit),
  };
}

async function allEnd(open: Awaited<ReturnType<typeof everythingOpen>>, codes: readonly number[]): Promise<void> {
  const { channels, yWebsocket, hocuspocus } = open;
  const ended = await Promise.all([channels.ended, yWebsocket.ended, hocuspocus.ended]);
  for (const code of ended) expect(codes).toContain(code);
  await open.stream.ended;
}

async function isShutOut({ page, visitor }: Visit): Promise<void> {
  expect((await visitor.data(page, 'GET', '/json/shown')).status).toBe(404);
  expect((await visitor.on(page.slug, '/', { headers: { 'sec-fetch-dest': 'script', 'sec-fetch-site': 'same-origin' } })).status).toBe(404);
}

type SessionList = { readonly sessions: readonly { readonly id: string; readonly current: boolean }[] };

describe('everything that is open on a page ends', () => {
  test('with the session that it came from, wherever that is revoked', async () => {
    const visit: Visit = await visited(stage, 'editor');
    const open = await everythingOpen(visit);
    const body = await upload(visit);
    const { sessions } = JSON.parse((await visit.visitor.app.call('GET', '/v1/auth/sessions')).text) as SessionList;
    const id = sessions.find(({ current }) => current)?.id;
    expect((await visit.visitor.app.call('DELETE', `/v1/auth/sessions/${id}`)).status).toBe(200);
    await allEnd(open, [CLOSE.unauthorized]);
    expect(await body.ended).toBe(401);
    await isShutOut(visit);
  });

  test('with a sign-out on the app’s host', async () => {
    const visit: Visit = await visited(stage);
    const open = await everythingOpen(visit);
    expect((await visit.visitor.app.submit('/sign-out', {})).status).toBe(200);
    await allEnd(open, [CLOSE.unauthorized]);
    await isShutOut(visit);
  });

  test('with the role on the artifact, and what is left of a role counts at once', async () => {
    const visit: Visit = await visited(stage, 'editor');
    const open = await everythingOpen(visit);
    await share(stage, visit.page, visit.visitor.userId, 'viewer');
    expect((await visit.visitor.data(visit.page, 'PUT', '/json/shown', 3)).status).toBe(403);
    expect((await visit.visitor.data(visit.page, 'GET', '/json/shown')).status).toBe(200);
    await share(stage, visit.page, visit.visitor.userId, null);
    await allEnd(open, [CLOSE.revoked, CLOSE.gone]);
    await isShutOut(visit);
  });

  test('with the membership of the workspace, and with a visibility that shuts members out', async () => {
    for (const end of ['membership', 'visibility'] as const) {
      const visit = await inWorkspace();
      const open = await everythingOpen(visit);
      if (end === 'visibility') await patchPage(stage, visit.page, { visibility: 'private' });
      else {
        const path = `/v1/workspaces/${visit.workspace}/members/${visit.visitor.userId}`;
        expect((await stage.easel.fetch(path, { method: 'DELETE', token: stage.owner.token })).status).toBe(200);
      }
      await allEnd(open, [CLOSE.revoked, CLOSE.gone]);
      await isShutOut(visit);
    }
  });

  test('with the artifact', async () => {
    const visit: Visit = await visited(stage);
    const open = await everythingOpen(visit);
    expect((await stage.easel.fetch(`/v1/artifacts/${visit.page.id}`, { method: 'DELETE', token: stage.owner.token })).status).toBe(200);
    await allEnd(open, [CLOSE.gone]);
    await isShutOut(visit);
  });

  test('with its time, though the session goes on', async () => {
    const visit: Visit = await visited(stage);
    const open = await everythingOpen(visit);
    stage.easel.clock.advance(LIMITS.pageSignInTtlMs);
    await allEnd(open, [CLOSE.unauthorized]);
    await isShutOut(visit);
    expect((await visit.visitor.app.call('GET', '/v1/me')).status).toBe(200);
  });
});

test('a socket is refused before the upgrade to whose session has ended, and from any other page', async () => {
  const visit: Visit = await visited(stage);
  const refused = async (headers: Readonly<Record<string, string>>) => {
    const peer = new WebSocket(`ws://127.0.0.1:${stage.easel.port}/v1/data/${visit.page.id}/channels`, { headers });
    const [error] = (await once(peer, 'error')) as [Error];
    return error.message;
  };
  expect(await refused({ ...headersOf(visit), origin: stage.easel.contentUrl('neighbour') })).toContain('403');
  expect(await refused({ ...headersOf(visit), origin: 'https://evil.example' })).toContain('403');
  await visit.visitor.app.submit('/sign-out', {});
  expect(await refused(headersOf(visit))).toContain('404');
});

async function inWorkspace(): Promise<Visit & { readonly workspace: string }> {
  const { easel, owner } = stage;
  const visit: Visit = await visited(stage);
  await share(stage, visit.page, visit.visitor.userId, null);
  const json = { 'content-type': 'application/json' };
  const made = await easel.fetch('/v1/workspaces', {
    ...{ method: 'POST', token: owner.token, headers: json },
    body: JSON.stringify({ name: 'Maps', slug: `maps-${visit.page.slug}`.slice(0, 40) }),
  });
  const { id, slug } = (await made.json()) as { id: string; slug: string };
  await easel.sql`
    insert into workspace_member (workspace_id, user_id, role, joined_at_ms) values (${id}, ${visit.visitor.userId}, 'member', 0)`;
  await easel.sql`update artifact set workspace_id = ${id} where id = ${visit.page.id}`;
  await patchPage(stage, visit.page, { visibility: 'workspace' });
  // The membership above was not told; a session reads it again when it is new.
  await visit.visitor.app.submit('/sign-out', {});
  const fresh = await visit.visitor.again();
  await fresh.enter(visit.page.slug);
  expect((await fresh.data(visit.page, 'GET', '/json/shown')).status).toBe(200);
  return { page: visit.page, visitor: fresh, workspace: slug };
}
