/** Prepares the examples of external sharing. */
import type { TestEasel, TestUser } from '../support/easel.ts';

interface World {
  readonly easel: TestEasel;
  readonly owner: TestUser;
  readonly artifactId: string;
}

interface Tools<W> {
  /** Throws where the call fails. */
  call(easel: TestEasel, user: TestUser, method: string, path: string, body?: unknown): Promise<Response>;
  workspace(world: W): Promise<{ ids: { workspace: string } }>;
}

const made = async (reply: Promise<Response>) => (await (await reply).json()) as { id: string };

export function externalArrangements<W extends World>({ call, workspace }: Tools<W>) {
  const sharing = async (world: W) => {
    const { ids } = await workspace(world);
    const reply = await world.easel.fetch(`/v1/workspaces/${ids.workspace}/features`, {
      method: 'PATCH',
      token: world.easel.adminToken,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ features: { 'collab.external_sharing': true } }),
    });
    if (!reply.ok) throw new Error(await reply.text());
    return { ids };
  };

  /** A client organisation with one member. */
  const client = async (world: W) => {
    const { ids } = await sharing(world);
    const there = `/v1/workspaces/${ids.workspace}/sharees`;
    const sharee = await made(call(world.easel, world.owner, 'POST', there, { name: 'Client Ltd' }));
    const member = await made(call(world.easel, world.owner, 'POST', `${there}/${sharee.id}/members`, { email: 'grace@client.example' }));
    return { ids: { ...ids, sharee: sharee.id, external: member.id } };
  };

  const artifactInside = ({ easel, owner, artifactId }: W, workspaceId: string) =>
    call(easel, owner, 'PATCH', `/v1/artifacts/${artifactId}`, { workspace_id: workspaceId });

  const markdown = { 'content-type': 'text/markdown' };
  const noted = async (world: W) => {
    const { ids } = await client(world);
    const path = `/v1/workspaces/${ids.workspace}/sharees/${ids.sharee}/context/index.md`;
    const reply = await world.easel.fetch(path, { method: 'PUT', token: world.owner.token, headers: markdown, body: '# First' });
    if (!reply.ok) throw new Error(await reply.text());
    return { ids };
  };

  return {
    'sharees.list': sharing,
    'sharees.create': sharing,
    'sharees.get': client,
    'sharees.update': client,
    'sharees.delete': client,
    'sharees.members': client,
    'sharees.addMember': client,
    'sharees.removeMember': client,
    'externalTokens.list': client,
    'externalTokens.create': client,
    'externalTokens.revoke': async (world: W) => {
      const { ids } = await client(world);
      const path = `/v1/workspaces/${ids.workspace}/sharees/${ids.sharee}/members/${ids.external}/tokens`;
      return { ids: { ...ids, token: (await made(call(world.easel, world.owner, 'POST', path, {}))).id } };
    },
    'grants.list': sharing,
    'grants.create': async (world: W) => {
      const { ids } = await client(world);
      const folder = await made(call(world.easel, world.owner, 'POST', `/v1/workspaces/${ids.workspace}/folders`, { name: 'Shared' }));
      return { ids: { ...ids, folder: folder.id } };
    },
    'grants.delete': async (world: W) => {
      const { ids } = await client(world);
      await artifactInside(world, ids.workspace);
      const body = { email: 'joan@client.example', resource_type: 'artifact', resource_id: world.artifactId };
      const grant = await made(call(world.easel, world.owner, 'POST', `/v1/workspaces/${ids.workspace}/share-person`, body));
      return { ids: { ...ids, grant: grant.id } };
    },
    'grants.sharePerson': async (world: W) => {
      const { ids } = await sharing(world);
      await artifactInside(world, ids.workspace);
      return { ids };
    },
    'receipts.list': sharing,
    'notes.list': noted,
    'notes.get': noted,
    'notes.put': async (world: W) => ({ ...(await client(world)), headers: markdown }),
    'notes.delete': noted,
  };
}
