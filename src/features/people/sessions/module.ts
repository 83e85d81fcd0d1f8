import { RETENTION } from '../../../../protocol/business/retention.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Module, ModuleDeps } from '../../module.ts';
import type { TokenService } from '../tokens/tokens.ts';
import { sessionHandlers } from './handlers.ts';
import { deleteDeadSessions } from './rows.ts';
import { SessionService } from './sessions.ts';

type Ids = keyof ReturnType<typeof sessionHandlers>;

const KEPT_MS = RETENTION.sessions.keptMs;

export function sessionsModule(deps: ModuleDeps & { readonly tokens: TokenService }): Module<Ids> & { readonly sessions: SessionService } {
  const { sql, clock } = deps;
  const sessions = new SessionService(deps);
  return {
    sessions,
    handlers: sessionHandlers({ ...deps, sessions }),
    sweeps: [{ name: 'sessions', run: () => deleteDeadSessions(sql, clock.nowMs() - KEPT_MS, LIMITS.sessionIdleMs) }],
  };
}
