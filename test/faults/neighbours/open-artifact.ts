/** A public artifact that anybody may write. */
import type { TestEasel, TestUser } from '../../support/easel.ts';
import { patch, published } from '../../support/requests.ts';

export async function openArtifact(easel: TestEasel): Promise<{ readonly id: string; readonly owner: TestUser }> {
  // What a free account makes public is held back first.
  const owner = await easel.newUser('pro');
  const { id } = await published(easel, owner);
  const changed = await easel.fetch(`/v1/artifacts/${id}`, {
    token: owner.token,
    ...patch({ visibility: 'public', allow_anon_write: true }),
  });
  if (changed.status !== 200) throw new Error(`the artifact could not be opened: ${changed.status} ${await changed.text()}`);
  return { id, owner };
}
