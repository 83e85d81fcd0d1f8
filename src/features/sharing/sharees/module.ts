import { RETENTION } from '../../../../protocol/business/retention.ts';
import type { Module, ModuleDeps } from '../../module.ts';
import { deleteUnusedExternals } from './externals.ts';
import { shareeHandlers } from './handlers.ts';
import { type ExternalTokenDeps, externalTokenHandlers } from './token-handlers.ts';

type Ids = keyof ReturnType<typeof shareeHandlers> | keyof ReturnType<typeof externalTokenHandlers>;

const KEPT_MS = RETENTION['people outside'].keptMs;

export function shareesModule(deps: ModuleDeps & Pick<ExternalTokenDeps, 'tokens'>): Module<Ids> {
  const { sql, clock } = deps;
  return {
    handlers: { ...shareeHandlers(deps), ...externalTokenHandlers(deps) },
    sweeps: [{ name: 'people outside', run: () => deleteUnusedExternals(sql, clock.nowMs() - KEPT_MS) }],
  };
}
