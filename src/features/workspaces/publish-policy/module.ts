import type { Module, ModuleDeps } from '../../module.ts';
import { publishPolicyHandlers } from './handlers.ts';

type Ids = keyof ReturnType<typeof publishPolicyHandlers>;

export function publishPolicyModule(deps: ModuleDeps): Module<Ids> {
  return { handlers: publishPolicyHandlers(deps) };
}
