import type { Module, ModuleDeps } from '../../module.ts';
import { publishHandlers } from './handlers.ts';
import type { PublishDeps } from './publish.ts';
import { expireUploads } from './uploads.ts';

type Ids = keyof ReturnType<typeof publishHandlers>;

export function publishModule(deps: ModuleDeps & Pick<PublishDeps, 'workspaces'>): Module<Ids> {
  return {
    handlers: publishHandlers(deps),
    sweeps: [{ name: 'uploads', run: (signal) => expireUploads(deps, signal) }],
  };
}
