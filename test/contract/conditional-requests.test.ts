/** Conditional requests: which endpoints of the table take them, and that every write honours them. Source: contract.md §0. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Endpoint } from '../../protocol/core/endpoint.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import { type EndpointId, endpoints } from '../../protocol/table.ts';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { expectFailure, ofInstance, send, table } from './calls.ts';
import { type ExampleCall, exampleCall, makeWorld, type World } from './examples.ts';

/** GETs without an ETag, each with the reason. */
const WITHOUT_ETAG: Partial<Record<EndpointId, string>> = {
  'operations.docs': 'a page with a caching header of its own',
  'operations.alive': 'the state of this moment',
  'operations.ready': 'the state of this moment',
  'terms.status': 'the state of this moment',
  'terms.page': 'a page that is made anew each time',
  'operations.metrics': 'the state of this moment',
  'artifacts.list': 'a list',
  'artifacts.listDeleted': 'a list',
  'artifacts.export': 'generated for each caller while it is sent',
  'tokens.list': 'a list',
  'devMail.list': 'a page of this moment',
  'devMail.show': 'a page of this moment',
  'devMail.html': 'a page of this moment',
  'webApp.home': 'a page of this moment',
  'webApp.mine': 'a page of this moment',
  'webApp.artifact': 'a page of this moment',
  'webApp.workspace': 'a page of this moment',
  'webApp.ask': 'a page of this moment',
  'webApp.instance': 'a page of this moment',
  'webApp.instancePart': 'a page of this moment',
  'webApp.design': 'a page of this moment',
  'pages.signIn': 'a page of this moment',
  'pages.signUp': 'a page of this moment',
  'pages.reset': 'a page of this moment',
  'pages.signOut': 'a page of this moment',
  'pages.account': 'a page of this moment',
  'pages.invite': 'a page of this moment',
  'pages.accessRequest': 'a page of this moment',
  'pages.open': 'a page of this moment',
  'pages.device': 'a page of this moment',
  'pages.deviceDone': 'a page of this moment',
  'signIn.providers': 'a list',
  'linkedAccounts.list': 'a list',
  'passkeys.list': 'a list',
  'oidc.start': 'a redirect',
  'oidc.callback': 'a redirect',
  'artifacts.view': 'a redirect',
  'sessions.list': 'a list',
  'agentTokens.list': 'a list',
  'publishPolicy.waiting': 'a list',
  'audit.list': 'a list',
  'folders.list': 'a list',
  'personalFolders.list': 'a list',
  'versions.list': 'a list',
  'previewLinks.list': 'a list',
  'json.list': 'a list',
  'tables.list': 'a list',
  'tables.rows': 'a list',
  'tables.export': 'a list, generated while it is sent',
  'blobs.list': 'a list',
  'blobs.downloadUrl': 'a signed address, different each time',
  'datasets.list': 'a list',
  'comments.list': 'a list',
  'email.list': 'a list',
  'templates.list': 'a list',
  'systemMails.list': 'a list',
  'billing.paymentMethods': 'a list',
  'billing.invoices': 'a list',
  'pages.checkout': 'a page of this moment',
  'pages.confirmPayment': 'a page of this moment',
  'pages.invoice': 'a page of this moment',
  'pages.unsubscribe': 'a page of this moment',
  'inbox.list': 'a list',
  'comments.replies': 'a list',
  'comments.thread': 'a list',
  'comments.history': 'a list',
  'documents.list': 'a list',
  'documents.versions': 'a list',
  'data.changes': 'a stream, or a page of it',
  'workspaces.list': 'a list',
  'members.list': 'a list',
  'invites.list': 'a list',
  'connections.list': 'a list',
  'assets.list': 'a list',
  'assets.listCollections': 'a list',
  'assets.versions': 'a list',
  'assets.links': 'a list',
  'assets.getUpload': 'an upload in pieces, whose offset is its condition',
  'workspaceAssets.list': 'a list',
  'workspaceAssets.listCollections': 'a list',
  'workspaceAssets.versions': 'a list',
  'workspaceAssets.links': 'a list',
  'workspaceAssets.getUpload': 'an upload in pieces, whose offset is its condition',
  'pages.share': 'a page of this moment',
  'fileImports.list': 'a list',
  'fileImports.runs': 'a list',
  'fileImports.browse': 'what the provider answers now',
  'fileImports.callback': 'a redirect',
  'skills.list': 'a list',
  'skills.listOfArtifact': 'a list',
  'skills.uses': 'a list',
  'skillChanges.list': 'a list',
  'search.find': 'several lists',
  'catalog.list': 'a list',
  'catalog.lineage': 'a graph of this moment',
  'collaborators.list': 'a list',
  'accessRequests.incoming': 'a list',
  'accessRequests.outgoing': 'a list',
  'sharees.list': 'a list',
  'sharees.members': 'a list',
  'externalTokens.list': 'a list',
  'grants.list': 'a list',
  'access.list': 'a list',
  'receipts.list': 'a list',
  'shared.list': 'a list',
  'notes.list': 'a list',
  'notifications.list': 'a list',
  'notifications.follow': 'a stream',
  'metrics.list': 'a list',
  'alerts.list': 'a list',
  'alerts.events': 'a list',
  'watches.list': 'a list',
  'instancePeople.list': 'a list',
  'instanceWorkspaces.list': 'a list',
  'instanceArtifacts.list': 'a list',
  'instanceMails.list': 'a list',
  'instanceDeliveries.list': 'a list',
  'instancePayments.list': 'a list',
  'instanceRuns.list': 'a list',
  'instanceQuotas.list': 'a list',
  'instanceAudit.list': 'a list',
  'instanceHealth.get': 'the state of this moment',
  'instanceHealth.slowTurns': 'the state of this moment',
  'personData.listMine': 'a list',
  'personData.exports': 'a list',
  'personData.deletions': 'a list',
  'personData.file': 'sent once, from where it is stored',
  'personData.fileOfMine': 'sent once, from where it is stored',
  'support.list': 'a list',
  'support.messages': 'a list',
  'webhooks.list': 'a list',
  'jobs.list': 'a list',
  'jobs.logs': 'a list',
  'webhooks.deliveries': 'a list',
  'proxy.get': 'of another host, whose validators are passed on',
};

/** Writes that take no condition although their path has a GET, each with the reason. */
const WITHOUT_CONDITION: Partial<Record<EndpointId, string>> = {
  'json.deleteAll': 'deletes a collection',
  'sessions.revokeOthers': 'deletes a collection',
  'comments.deleteResolved': 'deletes by a filter',
  'metrics.put': 'its path has a list; one metric is at another',
  'assets.sendPiece': 'the offset is its condition',
  'assets.cancelUpload': 'ends an upload whatever has arrived',
  'workspaceAssets.sendPiece': 'the offset is its condition',
  'workspaceAssets.cancelUpload': 'ends an upload whatever has arrived',
  'personData.cancel': 'cancels until it begins, whatever has changed of it',
};

/** What names the resource in the write's body, where the GET takes it in its query. */
const QUERY_OF_BODY: Partial<Record<EndpointId, string>> = { 'billing.update': 'workspace_id' };

const isWrite = ({ method }: Endpoint) => method === 'PUT' || method === 'PATCH' || method === 'DELETE';
const readOf = (path: string) => table.find(([, one]) => one.method === 'GET' && one.path === path);

test('every GET of a single resource has an ETag', () => {
  const without = table.filter(([, one]) => one.method === 'GET' && one.socket === undefined && one.conditional !== true);
  expect(without.map(([id]) => id).sort()).toEqual(Object.keys(WITHOUT_ETAG).sort());
});

test('every write of a path that has a GET names that GET as its resource', () => {
  const unguarded = table.filter(
    ([id, one]) => isWrite(one) && readOf(one.path) !== undefined && one.resource !== readOf(one.path)?.[0] && id,
  );
  expect(unguarded.map(([id]) => id).sort()).toEqual(Object.keys(WITHOUT_CONDITION).sort());
});

test('a write is conditional exactly where it names a resource, which is a conditional GET whose parameters it has too', () => {
  for (const [id, one] of table) {
    if (one.method === 'GET') {
      expect([id, one.resource]).toEqual([id, undefined]);
      continue;
    }
    expect([id, one.conditional === true]).toEqual([id, one.resource !== undefined]);
    if (one.resource === undefined) continue;
    const read: Endpoint = endpoints[one.resource as EndpointId];
    expect([id, read.method, read.conditional]).toEqual([id, 'GET', true]);
    expect(Object.keys(one.params?.shape ?? {})).toEqual(expect.arrayContaining(Object.keys(read.params?.shape ?? {})));
    expect(one.errors).toContain('VERSION_CONFLICT');
  }
});

let easel: TestEasel;
beforeAll(async () => {
  easel = await startTestEasel();
});
afterAll(() => easel.close());

test('a schema keeps its ETag when it is read back from the store', async () => {
  const world = await makeWorld(easel);
  const token = world.owner.token;
  const example = await exampleCall('tables.putSchema', world);
  const written = await send(easel, 'tables.putSchema', example, { token });
  await easel.runtime.discard(world.artifactId as ArtifactId);
  const read = await send(easel, 'tables.getSchema', { params: example.params ?? {} }, { token });
  expect([written.status, read.headers.get('etag')]).toEqual([200, written.headers.get('etag')]);
});

describe.each(table.filter(([, one]) => one.resource !== undefined))('%s', (id, endpoint) => {
  const resource = endpoint.resource as EndpointId;
  let world: World;
  let example: ExampleCall;

  async function arrange(): Promise<void> {
    world = await makeWorld(easel);
    example = await exampleCall(id, world);
    // The first write creates a document.
    if ((await look()).status === 404) expect((await write({})).status).toBeLessThan(300);
  }

  function look(): Promise<Response> {
    const name = QUERY_OF_BODY[id];
    const query = name === undefined ? {} : { [name]: (example.body as Readonly<Record<string, string>>)[name] ?? '' };
    const token = ofInstance(endpoints[resource]) ? easel.adminToken : world.owner.token;
    return send(easel, resource, { query, ...(example.params && { params: example.params }) }, { token });
  }

  function write(headers: Readonly<Record<string, string>>): Promise<Response> {
    const token = ofInstance(endpoints[id]) ? easel.adminToken : world.owner.token;
    return send(easel, id, example, { token, headers });
  }

  async function expectConflict(headers: Readonly<Record<string, string>>): Promise<string> {
    const before = await look();
    const etag = before.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[^"]+"$/);
    const refused = await write(headers);
    await expectFailure(endpoint, refused, 'VERSION_CONFLICT');
    expect(refused.headers.get('etag')).toBe(etag);
    const after = await look();
    expect([after.headers.get('etag'), await after.text()]).toEqual([etag, await before.text()]);
    return etag;
  }

  test('happens only on the state that If-Match names', async () => {
    await arrange();
    const etag = await expectConflict({ 'if-match': '"another"' });
    await expectConflict({ 'if-match': '"another", "still-another"' });
    await expectConflict({ 'if-match': `W/${etag}` });
    await expectConflict({ 'if-match': '2001-01-01T00:00:00.000Z' });
    await expectFailure(endpoint, await write({ 'if-match': 'no-etag' }), 'INVALID_REQUEST');
    const done = await write({ 'if-match': `"another", ${etag}` });
    expect([done.status, await done.clone().text()]).toEqual([expect.toSatisfy((status: number) => status < 300), expect.any(String)]);
    const now = await look();
    // A write answers the ETag of the next GET.
    if (now.ok && done.headers.has('etag')) expect(done.headers.get('etag')).toBe(now.headers.get('etag'));
    if (endpoint.method !== 'DELETE') expect(done.headers.get('etag')).toMatch(/^"[^"]+"$/);
  });

  test('takes * for any existing state, and updated_at where the resource has one', async () => {
    await arrange();
    expect((await write({ 'if-match': '*' })).status).toBeLessThan(300);
    await arrange();
    const shown = (await (await look()).json().catch(() => ({}))) as { updated_at?: string; data?: { updatedAt?: string } };
    const updatedAt = shown.updated_at ?? shown.data?.updatedAt;
    if (updatedAt === undefined) return;
    expect((await write({ 'if-match': updatedAt })).status).toBeLessThan(300);
  });

  test('two writes at once on the same state: one succeeds', async () => {
    await arrange();
    const etag = (await look()).headers.get('etag') ?? '';
    const replies = await Promise.all([0, 1].map(() => write({ 'if-match': etag })));
    const done = replies.filter(({ status }) => status < 300).length;
    // What these send is there already: it changes nothing, so both may succeed.
    const isSame = (await look()).headers.get('etag') === etag;
    expect([done, isSame]).toEqual(isSame ? [2, id === 'documents.apply' || id === 'datasets.put'] : [1, false]);
    expect(replies.every(({ status }) => status < 300 || status === 409 || status === 404)).toBe(true);
  });

  if (endpoint.method === 'PUT') {
    test('If-None-Match: * does not change an existing resource', async () => {
      await arrange();
      await expectConflict({ 'if-none-match': '*' });
    });
  }
});
