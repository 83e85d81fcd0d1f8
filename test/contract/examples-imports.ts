/** Prepares what the examples of file imports need. Only some suites have drives; elsewhere these calls are refused before they need one. */
import { newId, type UserId, type WorkspaceId } from '../../protocol/core/ids.ts';
import { refOf, tokensPlace } from '../../src/features/library/imports/rules.ts';
import { Sealer } from '../../src/storage/sealing/sealer.ts';
import { TEST_SECRET_KEY, type TestEasel, type TestUser } from '../support/easel.ts';
import { FAKE_TOKENS } from '../support/fake-drives.ts';
import { json, post } from '../support/requests.ts';

/** What these examples need of the world of `examples.ts`. */
interface World {
  readonly easel: TestEasel;
  readonly owner: TestUser;
}

interface Prepared<W extends World> {
  readonly workspace: (world: W) => Promise<{ readonly ids: { readonly workspace: string } }>;
  readonly signedIn: (world: W) => Promise<{ readonly session: string }>;
}

export function importArrangements<W extends World>({ workspace, signedIn }: Prepared<W>) {
  const enabled = async (world: W) => {
    const { ids } = await workspace(world);
    await world.easel.sql`
      insert into workspace_feature (workspace_id, name, enabled, source) values (${ids.workspace}, 'file_imports', true, 'instance')`;
    return { ids };
  };
  const connected = async (world: W) => {
    const { ids } = await enabled(world);
    const key = { workspaceId: ids.workspace as WorkspaceId, userId: world.owner.userId as UserId, provider: 'cloud_drive' } as const;
    const sealer = new Sealer([Buffer.from(TEST_SECRET_KEY, 'hex')]);
    await world.easel.sql`
      insert into import_connection (workspace_id, user_id, provider, tokens, connected_at_ms)
      values (${key.workspaceId}, ${key.userId}, ${key.provider}, ${sealer.seal(tokensPlace(key), JSON.stringify(FAKE_TOKENS))}, 0)`;
    const made = await world.easel.fetch(`/v1/workspaces/${ids.workspace}/folders`, {
      token: world.owner.token,
      ...post({ name: 'Plans' }),
    });
    const place = { kind: 'drive', driveId: null, itemId: 'root' } as const;
    return { ids: { ...ids, folder: (await json(made)).id as string }, ref: refOf(sealer, key, { place, selectable: true }) };
  };
  const source = async (world: W) => {
    const { ids } = await connected(world);
    const importSource = newId('importSource');
    await world.easel.sql`
      insert into import_source (
        id, workspace_id, user_id, provider, remote, remote_name, target_folder_id, convert, daily_sync, created_at_ms, updated_at_ms)
      values (${importSource}, ${ids.workspace}, ${world.owner.userId}, 'cloud_drive', '{}', 'Plans', ${ids.folder}, false, false, 0, 0)`;
    return { ids: { ...ids, importSource } };
  };
  const run = async (world: W) => {
    const { ids } = await source(world);
    const importRun = newId('importRun');
    const counts = { found: 0, imported: 0, converted: 0, skipped: 0, unchanged: 0, failed: 0 };
    // Another process works on it.
    await world.easel.sql`
      insert into import_run (id, source_id, user_id, trigger, status, counts, created_at_ms, lease_token, lease_ends_at)
      values (${importRun}, ${ids.importSource}, ${world.owner.userId}, 'manual', 'running', ${world.easel.sql.json(counts)}, 0, 'x',
        now() + interval '1 hour')`;
    return { ids: { ...ids, importRun } };
  };
  return {
    'fileImports.list': enabled,
    'fileImports.connect': enabled,
    'fileImports.callback': async (world: W) => {
      const { ids } = await enabled(world);
      const begun = await world.easel.fetch(`/v1/workspaces/${ids.workspace}/file-imports/connect/cloud_drive`, {
        method: 'POST',
        token: world.owner.token,
      });
      if (begun.status === 404) return {};
      const reply = await fetch((await json(begun)).authorize_url, { redirect: 'manual' });
      const back = new URL(reply.headers.get('location') ?? '');
      const { session } = await signedIn(world);
      return { query: Object.fromEntries(back.searchParams), headers: { cookie: session } };
    },
    'fileImports.disconnect': connected,
    'fileImports.browse': connected,
    'fileImports.createSource': async (world: W) => {
      const { ids, ref } = await connected(world);
      return { ids, body: { provider: 'cloud_drive', ref, targetFolderId: ids.folder } };
    },
    'fileImports.getSource': source,
    'fileImports.updateSource': source,
    'fileImports.deleteSource': source,
    'fileImports.sync': source,
    'fileImports.runs': source,
    'fileImports.run': run,
    'fileImports.cancel': run,
  };
}
