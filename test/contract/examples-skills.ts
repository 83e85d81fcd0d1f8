/** Prepares the examples of skills. */
import { EXAMPLES } from '../../protocol/examples.ts';
import type { TestEasel, TestUser } from '../support/easel.ts';

interface World {
  readonly easel: TestEasel;
  readonly owner: TestUser;
  readonly artifactId: string;
}

async function sent({ easel, owner }: World, method: string, path: string, body?: unknown) {
  const init = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  const reply = await easel.fetch(path, { method, token: owner.token, ...init });
  if (!reply.ok) throw new Error(`${method} ${path} answered ${reply.status}: ${await reply.text()}`);
  return (await reply.json()) as { id: string };
}

/** A skill in this workspace, into which the artifact has moved. */
async function skillIn(world: World, workspace: string) {
  const { id } = await sent(world, 'POST', `/v1/workspaces/${workspace}/skills`, EXAMPLES['skills.create'].body);
  await sent(world, 'PATCH', `/v1/artifacts/${world.artifactId}`, { workspace_id: workspace });
  return { ids: { workspace, skill: id } };
}

/** `inWorkspace`: makes a workspace with people of each role. */
export function skillArrangements<W extends World>(inWorkspace: (world: W) => Promise<{ readonly ids: { readonly workspace: string } }>) {
  const skill = async (world: W) => skillIn(world, (await inWorkspace(world)).ids.workspace);
  const change = async (world: W) => {
    const { ids } = await skill(world);
    const { id } = await sent(world, 'POST', `/v1/skills/${ids.skill}/changes`, EXAMPLES['skillChanges.propose'].body);
    return { ids: { ...ids, skillChange: id } };
  };
  const attached = async (world: W, path: (ids: { workspace: string; skill: string }) => string) => {
    const { ids } = await skill(world);
    await sent(world, 'PUT', path(ids));
    return { ids };
  };
  const toArtifact = (world: W) => attached(world, (ids) => `/v1/artifacts/${world.artifactId}/skills/${ids.skill}`);
  return {
    'skills.list': inWorkspace,
    'skills.create': inWorkspace,
    'skills.get': skill,
    'skills.markdown': skill,
    'skills.putMarkdown': async (world: W) => ({ ...(await skill(world)), headers: { 'content-type': 'text/markdown' } }),
    'skillChanges.list': change,
    'skillChanges.propose': skill,
    'skillChanges.get': change,
    'skillChanges.decide': change,
    'skills.attachToWorkspace': skill,
    'skills.detachFromWorkspace': (world: W) => attached(world, (ids) => `/v1/workspaces/${ids.workspace}/skills/${ids.skill}`),
    'skills.uses': toArtifact,
    'skills.listOfArtifact': toArtifact,
    'skills.attach': skill,
    'skills.detach': toArtifact,
  };
}
