import type { Module, ModuleDeps } from '../../module.ts';
import { deleteUnusedExternals } from './externals.ts';
import { shareeHandlers } from './handlers.ts';
import { type ExternalTokenDeps, externalTokenHandlers } from './token-handlers.ts';

type Ids = keyof ReturnType<typeof shareeHandlers> | keyof ReturnType<typeof externalTokenHandlers>;

const DAY_MS = 24 * 3_600_000;

export function shareesModule(deps: ModuleDeps & Pick<ExternalTokenDeps, 'tokens'>): Module<Ids> {
  const { sql, clock } = deps;
  return {
    handlers: { ...shareeHandlers(deps), ...externalTokenHandlers(deps) },
    sweeps: [{ name: 'people outside', run: () => deleteUnusedExternals(sql, clock.nowMs() - DAY_MS) }],
  };
}
