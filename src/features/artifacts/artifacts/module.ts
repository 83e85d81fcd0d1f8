import type { Module, ModuleDeps } from '../../module.ts';
import { type ArtifactDeps, artifactHandlers } from './handlers.ts';
import { ArtifactHeads } from './heads.ts';

type Ids = keyof ReturnType<typeof artifactHandlers>;

export function artifactsModule(
  deps: ModuleDeps & Pick<ArtifactDeps, 'workspaces' | 'wishes'>,
): Module<Ids> & { readonly heads: ArtifactHeads } {
  return { heads: new ArtifactHeads(deps), handlers: artifactHandlers(deps) };
}
