/** Rules of contract.md §0 for every endpoint of the table, on both databases. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Endpoint } from '../../protocol/core/endpoint.ts';
import { ERRORS } from '../../protocol/core/errors.ts';
import { newId } from '../../protocol/core/ids.ts';
import { missingCodeOf } from '../../protocol/core/missing.ts';
import { errorCodesOf } from '../../protocol/core/openapi.ts';
import { type EndpointId, endpoints } from '../../protocol/table.ts';
import { databaseKinds } from '../support/database.ts';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { ofInstance } from './calls.ts';
import { type ExampleCall, exampleCall, makeWorld, pathOf, type World, workspace } from './examples.ts';

const table = Object.entries(endpoints) as [EndpointId, Endpoint][];

function inner(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable) return inner(schema.unwrap());
  return schema;
}

/** The fields of all replies with their paths. */
function* fieldsOf(schema: z.core.$ZodType, path: string): Generator<[string, z.core.$ZodType]> {
  const bare = inner(schema);
  if (bare instanceof z.ZodArray) yield* fieldsOf(bare.element, `${path}[]`);
  if (bare instanceof z.ZodUnion) for (const option of bare.options) yield* fieldsOf(option, path);
  if (!(bare instanceof z.ZodObject)) return;
  for (const [name, field] of Object.entries(bare.shape)) {
    yield [`${path}.${name}`, field as z.core.$ZodType];
    yield* fieldsOf(field as z.core.$ZodType, `${path}.${name}`);
  }
}

function replyFields(endpoint: Endpoint): Map<string, z.core.$ZodType> {
  const bodies = Object.values(endpoint.replies).flatMap((reply) => ('body' in reply ? [reply.body] : []));
  return new Map(bodies.flatMap((body) => [...fieldsOf(body, '')]));
}

/** Where spec.md says integer. */
const INTEGER_TIMES = ['.data.template.', '.data.templates[].'];
const isIntegerTime = (id: string, path: string) =>
  INTEGER_TIMES.some((one) => path.includes(one)) || (id.startsWith('alerts.') && path.endsWith('created_at'));

const isList = (endpoint: Endpoint) => [...replyFields(endpoint).keys()].some((path) => /\.(?:next_cursor|nextCursor)$/.test(path));

describe('the table', () => {
  test.each(table)('%s answers times as RFC 3339', (id, endpoint) => {
    for (const [path, field] of replyFields(endpoint)) {
      if (/(?:_at|[a-z]At|_until)$/.test(path) && !isIntegerTime(id, path))
        expect([path, inner(field)]).toEqual([path, expect.any(z.ZodISODateTime)]);
    }
  });

  test.each(table.filter(([, { method }]) => method === 'POST'))(
    '%s declares the errors of an Idempotency-Key where it changes something',
    (_id, endpoint) => {
      expect(errorCodesOf(endpoint).includes('IDEMPOTENCY_KEY_REUSED')).toBe(endpoint.reads !== true && endpoint.once !== true);
    },
  );

  test('POSTs whose answer is given once are declared so: forms of our pages, and the delivery of a token', () => {
    const once = table.filter(([, one]) => one.once).map(([id]) => id);
    expect(once.filter((id) => !id.startsWith('pages.'))).toEqual(['deviceLogin.token', 'fileImports.connect', 'pageChat.write']);
    expect(once.filter((id) => id.startsWith('pages.'))).toEqual(
      table.filter(([id, { method }]) => id.startsWith('pages.') && method === 'POST').map(([id]) => id),
    );
  });

  test('POSTs that only read are declared so', () => {
    const mailing = ['email.challenge', 'templates.previewInline', 'templates.preview', 'templates.rehearse'];
    const reading = table.filter(([, { reads }]) => reads).map(([id]) => id);
    expect(reading).toEqual([
      'tables.query',
      'tables.count',
      'tables.distinct',
      'tables.aggregate',
      'access.simulate',
      'ask.ask',
      'ask.agent',
      ...mailing,
      'jobs.preview',
      'jobs.rehearse',
      'alerts.backtest',
      'alerts.rehearse',
      'support.inboundChatReplies',
      'pageChat.challenge',
      'pageChat.read',
    ]);
  });
});

describe.each(databaseKinds())('over %s', (database) => {
  let easel: TestEasel;
  let world: World;
  let workspaceId = '';
  beforeAll(async () => {
    easel = await startTestEasel({ database });
    world = await makeWorld(easel);
    workspaceId = (await workspace(world)).ids.workspace;
  });
  afterAll(() => easel.close());

  /** A well-formed path of the endpoint; what it names need not exist. */
  function somewhere(id: EndpointId, more: Partial<ExampleCall> & { search?: string } = {}): string {
    const params = {
      id: world.artifactId,
      artifactId: world.artifactId,
      upload_id: newId('upload'),
      sha256: 'a'.repeat(64),
      tokenId: id.startsWith('agentTokens') ? newId('token') : newId('upload'),
      blobId: newId('blob'),
      rowId: newId('row'),
      commentId: newId('comment'),
      link: newId('previewLink'),
      workspaceId,
      userId: newId('user'),
      sourceId: newId('importSource'),
      inviteId: newId('invite'),
      connectionId: newId('connection'),
      skillId: newId('skill'),
      changeId: newId('skillChange'),
      fileId: newId('deliverable'),
      collectionId: newId('collection'),
      linkId: newId('shareLink'),
      secret: 'k'.repeat(43),
      webhookId: newId('webhook'),
      jobId: newId('job'),
      runId: id.startsWith('fileImports') ? newId('importRun') : newId('run'),
      deliveryId: newId('delivery'),
      mailId: newId('mail'),
      exportId: newId('personExport'),
      deletionId: newId('personDeletion'),
      requestId: newId('accessRequest'),
      email: 'grace@example.com',
      version: '1',
      a: '1',
      b: '1',
      key: 'score',
      table: 'guests',
      doc: 'notes',
      dataset: 'cities',
      seq: '1',
      file: 'start.js',
      ...(id === 'tokens.revoke' && { id: newId('token') }),
      ...(id === 'sessions.revoke' && { id: newId('session') }),
      ...(id === 'passkeys.remove' && { id: newId('passkey') }),
      provider: id.startsWith('fileImports') ? 'cloud_drive' : 'corp',
      shareeId: newId('sharee'),
      memberId: newId('external'),
      name: 'index.md',
      templateId: newId('template'),
      emailId: newId('mailBatch'),
      token: `x.${'k'.repeat(43)}`,
      kind: 'invite',
      locale: 'en',
      ticketId: newId('ticket'),
      messageId: newId('ticketMessage'),
      attachmentId: newId('ticketAttachment'),
      signature: 'k'.repeat(43),
      ...more.params,
    };
    return pathOf(id, { params, ...(more.query && { query: more.query }) }) + (more.search ?? '');
  }

  async function call(id: EndpointId, path: string, given: { body?: unknown; token?: string; headers?: Record<string, string> } = {}) {
    const endpoint: Endpoint = endpoints[id];
    const { who } = endpoint.access;
    const own = ofInstance(endpoint) ? easel.adminToken : world.owner.token;
    const token = given.token ?? (who === 'anyone' ? undefined : own);
    const reply = await easel.fetch(path, {
      method: endpoint.method,
      headers: { origin: easel.baseUrl, ...(given.body !== undefined && { 'content-type': 'application/json' }), ...given.headers },
      ...(token !== undefined && { token }),
      ...(given.body !== undefined && { body: JSON.stringify(given.body) }),
    });
    const text = await reply.text();
    // biome-ignore lint/suspicious/noExplicitAny: the tests say what the answer holds.
    return { status: reply.status, headers: reply.headers, body: (text.startsWith('{') ? JSON.parse(text) : undefined) as any };
  }

  const own = table.filter(([, { foreignQuery }]) => foreignQuery === undefined);
  test('only the answer of an identity provider has parameters that we do not know', () => {
    expect(table.filter((one) => !own.includes(one)).map(([id]) => id)).toEqual(['oidc.callback', 'fileImports.callback']);
  });

  test.each(own)('%s refuses unknown parameters, names them and lists its own', async (id, endpoint) => {
    const { status, body } = await call(id, somewhere(id, { search: '?strange=1&odd=2&odd=3' }));
    expect([status, body.code, body.param]).toEqual([400, 'INVALID_REQUEST', 'strange']);
    const issues: { path: string; message: string }[] = body.issues;
    expect(issues.slice(0, 2).map(({ path }) => path)).toEqual(['strange', 'odd']);
    for (const name of Object.keys(endpoint.query?.shape ?? {})) expect(issues[0]?.message).toContain(name);
  });

  test.each(table.filter(([, { query }]) => query !== undefined))('%s refuses a repeated parameter', async (id, endpoint) => {
    const [name = ''] = Object.keys(endpoint.query?.shape ?? {});
    const { status, body } = await call(id, somewhere(id, { search: `?${name}=1&${name}=1` }));
    expect([status, body.code, body.param]).toEqual([400, 'INVALID_REQUEST', name]);
    expect(body.error).toBe(`${name}: is given more than once; give it once.`);
  });

  const numbers = table.flatMap(([id, { query }]): [EndpointId, string][] =>
    Object.entries(query?.shape ?? {}).flatMap(([name, field]) => (inner(field) instanceof z.ZodNumber ? [[id, name]] : [])),
  );
  test.each(numbers)('%s takes %s in plain digits', async (id, name) => {
    for (const text of ['1e2', '0x10', ' 5', '+5', '5 ', '5.', '', '٥']) {
      const shape = (endpoints[id] as Endpoint).query?.shape ?? {};
      const needed = Object.keys(shape).filter((each) => each !== name && !shape[each]?.safeParse(undefined).success);
      const of = needed
        .map(
          (each) =>
            `&${each}=${each === 'artifact_id' ? world.artifactId : each === 'sourceId' ? newId('importSource') : each === 'workspace_id' ? newId('workspace') : 'x'}`,
        )
        .join('');
      const { status, body } = await call(id, somewhere(id, { search: `?${name}=${encodeURIComponent(text)}${of}` }));
      expect([text, status, body.code, body.param]).toEqual([text, 400, 'INVALID_REQUEST', name]);
      expect(body.error).toBe(`${name}: must be a number in plain digits, not ${JSON.stringify(text)}.`);
    }
  });

  const ids = table.flatMap(([id, { params }]): [EndpointId, string][] =>
    Object.entries(params?.shape ?? {}).flatMap(([name, field]) => (missingCodeOf(field as object) === undefined ? [] : [[id, name]])),
  );
  test.each(ids)('%s answers a malformed %s as missing', async (id, name) => {
    const endpoint: Endpoint = endpoints[id];
    // In no workspace there is no such folder.
    const isOfFolder = endpoint.access.who === 'folder';
    const code = isOfFolder ? 'FOLDER_NOT_FOUND' : (missingCodeOf(endpoint.params?.shape[name] as object) ?? 'NOT_FOUND');
    const needed = Object.entries(endpoint.query?.shape ?? {}).flatMap(([key, field]) =>
      field instanceof z.ZodLiteral ? [[key, field.value]] : [],
    );
    const others: Partial<Record<EndpointId, object>> = {
      'access.explain': { email: 'ada@example.com' },
      'proxy.get': { url: 'http://a.example/' },
      'fileImports.runs': { sourceId: newId('importSource') },
      'assets.sendPiece': { offset: '0' },
      'workspaceAssets.sendPiece': { offset: '0' },
    };
    const query = { ...Object.fromEntries(needed), ...others[id] };
    const texts = name === 'file' ? ['x'.repeat(101)] : ['nonsense', `${newId('mail')}`, '1e2', '-1', '%FF', '%00'];
    // A slug that nobody has is no malformed one.
    for (const text of texts.filter((one) => one.startsWith('%') || !endpoint.params?.shape[name]?.safeParse(one).success)) {
      const path = somewhere(id, { params: { [name]: 'MALFORMED' }, query }).replace('MALFORMED', text);
      const { status, body } = await call(id, path);
      expect([text, status, body.code]).toEqual([text, ERRORS[code].status, code]);
      expect(errorCodesOf(endpoint)).toContain(code);
    }
  });

  test.each(ids.filter(([id, name]) => endpoints[id].access.who === 'artifact' && !['id', 'artifactId'].includes(name)))(
    '%s hides the artifact from a stranger also with a malformed %s',
    async (id, name) => {
      const { status, body } = await call(id, somewhere(id, { params: { [name]: 'nonsense' } }), { token: world.stranger.token });
      expect([status, body.code]).toEqual([404, 'ARTIFACT_NOT_FOUND']);
    },
  );

  test.each(table.filter(([, endpoint]) => isList(endpoint) && endpoint.method === 'GET'))('%s counts on demand', async (id) => {
    const own = await makeWorld(easel);
    const example = await exampleCall(id, own);
    const token = ofInstance(endpoints[id]) ? easel.adminToken : own.owner.token;
    const without = await call(id, pathOf(id, { ...example, query: { ...example.query, count: 'false' } }), { token });
    const counted = await call(id, pathOf(id, { ...example, query: { ...example.query, count: 'true' } }), { token });
    expect([without.status, counted.status]).toEqual([200, 200]);
    const page = (answer: typeof counted) => answer.body.data ?? answer.body;
    const { total, ...rest } = page(counted);
    expect(total).toEqual(expect.any(Number));
    expect(rest).toEqual(page(without));
    const items = Object.values(rest).find((value) => Array.isArray(value)) as unknown[];
    // Of the installation there may be more than a page.
    if (rest.has_more === true) expect(total).toBeGreaterThan(items.length);
    else expect(total).toBe(items.length);
  });

  test('tables are counted on demand', async () => {
    await call('tables.insert', somewhere('tables.insert'), { body: { name: 'Ada' } });
    const { body } = await call('tables.list', somewhere('tables.list', { query: { count: 'true' } }));
    expect(body.data).toEqual({ tables: [{ name: 'guests', rowCount: expect.any(Number) }], total: 1 });
  });

  // A signed call is of one body.
  const unsigned = table.filter(([id, { reads }]) => reads && id !== 'support.inboundChatReplies');
  test.each(unsigned)('%s accepts an Idempotency-Key and ignores it', async (id) => {
    const own = await makeWorld(easel);
    const example = await exampleCall(id, own);
    const headers = { 'idempotency-key': `key of ${id}` };
    const count = async () => (await easel.sql`select count(*)::int as rows from idempotency_record`)[0]?.rows;
    const before = await count();
    const given = { token: own.owner.token, headers };
    const first = await call(id, pathOf(id, example), { ...given, body: example.body });
    const body = example.body as object;
    const others: Partial<Record<EndpointId, object>> = {
      'access.simulate': { visibility: 'password' },
      'jobs.preview': { schedule: '0 10 * * *' },
      'templates.previewInline': { subject: 'Other', html: 'Other' },
      'alerts.backtest': { ...body, name: 'Other' },
      'jobs.rehearse': { action: 'script', config: { source: 'return 2;' } },
      'ask.ask': { question: 'Another?' },
      'ask.agent': { question: 'Another?' },
      'templates.preview': { data: { name: 'Nobody' } },
      'pageChat.read': body,
      'templates.rehearse': { to: ['nobody@example.com'], data: { name: 'Nobody' } },
    };
    const other = others[id] ?? { ...body, filter: { name: 'Nobody' } };
    const second = await call(id, pathOf(id, example), { ...given, body: other });
    expect([first.status, second.status, second.headers.get('idempotent-replayed')]).toEqual([200, 200, null]);
    // There is no history yet that a backtest could go over, nothing that answers a question, and one chat with a secret.
    const isSame = id === 'alerts.backtest' || id.startsWith('ask.') || id === 'pageChat.read';
    if ('body' in endpoints[id] && !isSame) expect(second.body).not.toEqual(first.body);
    expect(await count()).toBe(before);
  });

  const bothWays = table.flatMap(([id, endpoint]): [EndpointId, EndpointId][] => {
    if (endpoint.body?.kind !== 'json' || endpoint.body.schema instanceof z.ZodUnknown || !['PUT', 'PATCH'].includes(endpoint.method))
      return [];
    const read = table.find(([, { method, path }]) => method === 'GET' && path === endpoint.path);
    return read === undefined || isList(read[1]) ? [] : [[id, read[0]]];
  });
  test('the endpoints whose answer can be sent back are known', () => {
    expect(bothWays.map(([id]) => id)).toEqual([
      ...['accounts.updateProfile', 'artifacts.update', 'versions.update', 'folders.update', 'personalFolders.update'],
      ...['context.put', 'context.patch', 'tables.putSchema', 'comments.update', 'comments.putConfig', 'workspaces.update'],
      ...['accessPolicy.put', 'features.update', 'publishPolicy.update', 'sharees.update', 'connections.update'],
      ...['assets.updateCollection', 'assets.update', 'workspaceAssets.updateCollection', 'workspaceAssets.update'],
      ...[
        'fileImports.updateSource',
        'catalog.update',
        'templates.update',
        'systemMails.put',
        'proxy.putConfig',
        'webhooks.update',
        'jobs.update',
      ],
      ...['alerts.update', 'watches.update', 'instancePeople.update', 'instanceWorkspaces.update', 'instanceArtifacts.update'],
      ...['instanceFlags.update', 'banner.set', 'pageChat.putConfig', 'billing.update'],
    ]);
  });

  const volatile = ({ updated_at: _, updatedAt: __, seq: ___, ...rest }: Record<string, unknown>) => rest;
  test.each([...bothWays, ['tables.patchRow', 'tables.getRow'] as const])(
    '%s accepts the answer of %s and changes nothing',
    async (id, read) => {
      const own = await makeWorld(easel);
      const token = ofInstance(endpoints[read]) ? easel.adminToken : own.owner.token;
      const example = await exampleCall(id, own);
      const path = pathOf(id, example);
      // The one resource whose GET names what it is of in the query.
      const { workspace_id: workspaceId } = (example.body ?? {}) as { workspace_id?: string };
      const readPath = id === 'billing.update' ? `${path}?workspace_id=${workspaceId}` : path;
      const data = (answer: Awaited<ReturnType<typeof call>>) =>
        answer.body.data?.template ?? answer.body.data ?? answer.body.watch ?? answer.body;
      const before = data(await call(read, readPath, { token }));
      const sent = await call(id, path, { token: ofInstance(endpoints[id]) ? easel.adminToken : token, body: before });
      expect([sent.status, volatile(data(sent))]).toEqual([200, volatile(before)]);
      expect(volatile(data(await call(read, readPath, { token })))).toEqual(volatile(before));
    },
  );

  test('null is accepted where an answer has null, and means absent', async () => {
    const token = await call('tokens.create', somewhere('tokens.create'), { body: { name: null, expires_at: null } });
    expect(token.status).toBe(201);
    const body = {
      content: 'x',
      contextId: null,
      parentId: null,
      authorName: null,
      position: null,
      quote: null,
      versionId: null,
      dueAt: null,
    };
    const made = await call('comments.create', somewhere('comments.create'), { body });
    expect([made.status, made.body.data.contextId, made.body.data.versionId]).toEqual([201, null, world.versionIds[1]]);
    const profile = await call('accounts.updateProfile', somewhere('accounts.updateProfile'), {
      body: { username: null, name: 'Somebody' },
    });
    expect([profile.status, profile.body.username, profile.body.name]).toEqual([200, null, 'Somebody']);
  });

  test('updatedAt of a key, a row and a comment rises while the clock stands still, also after a reload of the actor', async () => {
    const steps: [EndpointId, EndpointId, object][] = [
      ['json.put', 'json.put', { n: 1 }],
      ['tables.insert', 'tables.patchRow', { n: 1 }],
      ['comments.create', 'comments.update', { content: 'Said.' }],
    ];
    for (const [make, change, body] of steps) {
      const made = (await call(make, somewhere(make), { body })).body.data;
      const { id, updatedAt } = make === 'tables.insert' ? made.inserted[0] : made;
      const times = [updatedAt];
      for (let round = 0; round < 3; round += 1) {
        if (round > 0) await easel.runtime.discard(world.artifactId as never);
        const params = { ...(id !== undefined && { rowId: id, commentId: id }) };
        const sent = await call(change, somewhere(change, { params }), { body: { ...body, content: `Said ${round}.` } });
        times.push(sent.body.data.updatedAt);
      }
      expect(new Set(times).size).toBe(times.length);
      expect([...times].sort()).toEqual(times);
      expect(times[0]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    }
  });

  test('lengths of texts count code points: an emoji is one', async () => {
    const rename = (name: string) => call('artifacts.update', somewhere('artifacts.update'), { body: { name } });
    expect((await rename('🎨'.repeat(200))).body.name).toBe('🎨'.repeat(200));
    const refused = await rename('🎨'.repeat(201));
    expect([refused.status, refused.body.error]).toEqual([400, 'name: must have at most 200 characters, not 201.']);
    const label = (text: string) => call('versions.update', somewhere('versions.update'), { body: { label: text } });
    expect([(await label('🎨'.repeat(100))).status, (await label('🎨'.repeat(101))).status]).toEqual([200, 400]);
    const comment = (content: string) => call('comments.create', somewhere('comments.create'), { body: { content } });
    expect((await comment('🎨'.repeat(10_000))).status).toBe(201);
    expect((await comment('🎨'.repeat(10_001))).body.code).toBe('CONTENT_TOO_LONG');
    const password = (text: string) =>
      call('artifacts.update', somewhere('artifacts.update'), { body: { visibility: 'password', password: text } });
    expect([(await password('🎨🎨🎨🎨')).status, (await password('🎨🎨🎨🎨🎨🎨🎨🎨')).status]).toEqual([400, 200]);
  });
});
