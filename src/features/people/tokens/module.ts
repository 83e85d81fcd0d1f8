import { RETENTION } from '../../../../protocol/business/retention.ts';
import type { Module, ModuleDeps } from '../../module.ts';
import { SESSION } from '../sessions/kind.ts';
import { tokenHandlers } from './handlers.ts';
import { deleteDeadTokens } from './rows.ts';
import { TokenService } from './tokens.ts';

type Ids = keyof ReturnType<typeof tokenHandlers>;

const KEPT_MS = RETENTION.tokens.keptMs;

export function tokensModule(deps: ModuleDeps): Module<Ids> & { readonly tokens: TokenService } {
  const { sql, clock } = deps;
  const tokens = new TokenService({ ...deps, sessions: SESSION });
  return {
    tokens,
    handlers: tokenHandlers({ ...deps, tokens }),
    sweeps: [{ name: 'tokens', run: () => deleteDeadTokens(sql, clock.nowMs() - KEPT_MS) }],
    close: () => tokens.stop(),
  };
}
