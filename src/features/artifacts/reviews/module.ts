import type { Module, ModuleDeps } from '../../module.ts';
import { type ReviewDeps, reviewHandlers } from './handlers.ts';

type Ids = keyof ReturnType<typeof reviewHandlers>;

export function reviewsModule(deps: ModuleDeps & Pick<ReviewDeps, 'heads'>): Module<Ids> {
  return { handlers: reviewHandlers(deps) };
}
