/** Keys change, keys are missing, rows are altered: what becomes of the credentials of connections. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ConnectionId } from '../../../../protocol/core/ids.ts';
import { resealConnections } from '../../../../src/features/library/connections/reseal.ts';
import { placeOf } from '../../../../src/features/library/connections/rules.ts';
import { Sealer } from '../../../../src/storage/sealing/sealer.ts';
import { databaseKinds, SILENT } from '../../../support/database.ts';
import { startTestEasel, type TestEasel, type TestStorage, testStorage } from '../../../support/easel.ts';
import { json, post } from '../../../support/requests.ts';
import { seededWorkspace, type TestWorkspace } from '../../../support/seeded-workspace.ts';

const [OLD, NEW] = ['aa'.repeat(32), 'bb'.repeat(32)];
const BODY = {
  type: 'http',
  authType: 'bearer',
  config: { url: 'https://api.example.com' },
  credentials: { token: 'open-sesame' },
};
const onlyNew = new Sealer([Buffer.from(NEW, 'hex')]);

describe.each(databaseKinds())('on %s', (database) => {
  let storage: TestStorage;
  let easel: TestEasel;
  let workspace: TestWorkspace;
  const start = async (SECRET_KEY: string) => {
    easel = await startTestEasel({ storage, settings: { SECRET_KEY } });
  };
  const make = async (name: string, more: object = {}) =>
    easel.fetch(`/v1/workspaces/${workspace.slug}/connections`, { token: workspace.owner.token, ...post({ name, ...BODY, ...more }) });
  const sealedBy = (key: Sealer, rows: readonly { id: ConnectionId; credentials: Buffer }[]) =>
    rows.map(({ id, credentials }) => JSON.parse(key.open(placeOf(id, null), credentials)));
  const stored = () => easel.sql<{ id: ConnectionId; credentials: Buffer }[]>`
    select id, credentials from connection where credentials is not null order by created_at_ms, id`;

  beforeEach(async () => {
    storage = await testStorage(database);
    await start(OLD);
    workspace = await seededWorkspace(easel, 'acme');
  });
  afterEach(async () => {
    await easel.close();
    await storage.remove();
  });

  it('the sweep seals again what an older key has sealed, of workspaces and of people, and the old key can go', async () => {
    await make('one');
    await make('two', { credentialScope: 'person' });
    await make('three', { credentials: undefined });
    await easel.close();
    await start(`${NEW},${OLD}`);
    // The sweep at the start, or this one.
    await easel.sweep();
    expect(sealedBy(onlyNew, await stored())).toEqual([{ token: 'open-sesame' }]);
    const [own] = await easel.sql<
      { connection_id: ConnectionId; credentials: Buffer }[]
    >`select connection_id, credentials from connection_credential`;
    expect(onlyNew.open(placeOf(own?.connection_id as ConnectionId, workspace.owner.userId), own?.credentials ?? Buffer.of())).toContain(
      'open-sesame',
    );
    expect((await easel.sweep()).resealed).toBe(0);
  });

  it('what cannot be opened stays as it is and stops nothing else', async () => {
    await make('first');
    easel.clock.advance(1000);
    await make('second');
    const before = await stored();
    // Somebody swaps two rows in the database.
    await easel.sql`update connection set credentials = ${before[1]?.credentials ?? null} where id = ${before[0]?.id ?? ''}`;
    const both = new Sealer([Buffer.from(NEW, 'hex'), Buffer.from(OLD, 'hex')]);
    const said: unknown[] = [];
    const log = { ...SILENT, warn: (fields: object) => void said.push(fields) };
    expect(await resealConnections({ sql: easel.sql, sealer: both, log }, new AbortController().signal)).toBe(1);
    expect(said).toEqual([{ connectionId: before[0]?.id, reason: expect.stringMatching(/was altered, or belongs elsewhere/) }]);
    expect(JSON.stringify(said)).not.toContain('sesame');
    const after = await stored();
    expect(after[0]?.credentials.equals(before[1]?.credentials ?? Buffer.of())).toBe(true);
    expect(JSON.parse(onlyNew.open(placeOf(after[1]?.id as ConnectionId, null), after[1]?.credentials ?? Buffer.of()))).toEqual({
      token: 'open-sesame',
    });
  });

  it('without a key the keyless server refuses credentials and names the setting, and the embedded default has a key of its own', async () => {
    await easel.close();
    await start('');
    const reply = await make('kept');
    const body = await json(reply);
    if (database === 'embedded') {
      expect([reply.status, body.has_credentials]).toEqual([201, true]);
    } else {
      expect([reply.status, body.code]).toEqual([501, 'SECRETS_NOT_CONFIGURED']);
      expect(body.error).toContain('SECRET_KEY');
      expect(await stored()).toEqual([]);
      expect((await make('without', { credentials: undefined })).status).toBe(201);
    }
  });

  it('nothing of a deleted workspace stays', async () => {
    await make('one');
    await easel.sql`update workspace set deleted_at_ms = ${easel.clock.nowMs()} where id = ${workspace.id}`;
    // The sweep at the start, or this one.
    await easel.sweep();
    expect(await easel.sql`select 1 from connection`).toEqual([]);
  });
});
