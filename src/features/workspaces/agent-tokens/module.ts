import type { Module, ModuleDeps } from '../../module.ts';
import { type AgentTokenDeps, agentTokenHandlers } from './handlers.ts';

type Ids = keyof ReturnType<typeof agentTokenHandlers>;

export function agentTokensModule(deps: ModuleDeps & Pick<AgentTokenDeps, 'tokens'>): Module<Ids> {
  return { handlers: agentTokenHandlers(deps) };
}
