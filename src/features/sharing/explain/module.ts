import type { Module, ModuleDeps } from '../../module.ts';
import { explainHandlers } from './handlers.ts';

type Ids = keyof ReturnType<typeof explainHandlers>;

export function explainModule(deps: ModuleDeps): Module<Ids> {
  return { handlers: explainHandlers(deps) };
}
