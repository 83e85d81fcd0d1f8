import type { Module, ModuleDeps } from '../../module.ts';
import { accessPolicyHandlers } from './handlers.ts';

type Ids = keyof ReturnType<typeof accessPolicyHandlers>;

export function accessPolicyModule(deps: ModuleDeps): Module<Ids> {
  return { handlers: accessPolicyHandlers(deps) };
}
