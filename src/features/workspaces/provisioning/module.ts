import type { Module, ModuleDeps } from '../../module.ts';
import { type ProvisioningDeps, provisioningHandlers } from './handlers.ts';

type Ids = keyof ReturnType<typeof provisioningHandlers>;

export function provisioningModule(deps: ModuleDeps & Pick<ProvisioningDeps, 'invitations' | 'mail'>): Module<Ids> {
  return { handlers: provisioningHandlers(deps) };
}
