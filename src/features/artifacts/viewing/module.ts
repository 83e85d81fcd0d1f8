import type { Module, ModuleDeps } from '../../module.ts';
import type { TokenService } from '../../people/tokens/tokens.ts';
import { viewingHandlers } from './handlers.ts';
import { SessionsOnPages } from './page-sign-ins.ts';
import { deleteEnded } from './rows.ts';
import { Viewing, type ViewingDeps } from './viewing.ts';

type Ids = keyof ReturnType<typeof viewingHandlers>;

interface Offered {
  readonly viewing: Viewing;
  readonly signIns: SessionsOnPages;
}

export function viewingModule(deps: ModuleDeps & Pick<ViewingDeps, 'heads'> & { readonly tokens: TokenService }): Module<Ids> & Offered {
  const { sql, clock } = deps;
  const signIns = new SessionsOnPages(deps);
  const viewing = new Viewing({ ...deps, signIns });
  return {
    viewing,
    signIns,
    handlers: viewingHandlers({ ...deps, viewing }),
    sweeps: [{ name: 'pageSignIns', run: () => deleteEnded(sql, clock.nowMs()) }],
  };
}
