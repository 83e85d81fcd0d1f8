import type { Module, ModuleDeps } from '../../module.ts';
import type { AccessWatch } from '../../people/access-watch/access-watch.ts';
import { type CommentsGate, commentsGate } from './comments-gate.ts';
import { changeHandlers } from './handlers.ts';
import { ChangeHub } from './hub.ts';
import { trimTombstones } from './trim.ts';

type Ids = keyof ReturnType<typeof changeHandlers>;

interface Offered {
  readonly hub: ChangeHub;
  readonly mayReadComments: CommentsGate;
}

export function changesModule(deps: ModuleDeps & { readonly access: AccessWatch }): Module<Ids> & Offered {
  const { sql, clock } = deps;
  const hub = new ChangeHub({ ...deps, streams: deps.caps.streams });
  const mayReadComments = commentsGate(deps.runtime);
  return {
    hub,
    mayReadComments,
    handlers: changeHandlers({ ...deps, hub, mayReadComments }),
    gauges: [{ name: 'easel_streams_open', help: 'Open streams of changes.', read: () => hub.streams }],
    sweeps: [{ name: 'tombstones', run: (signal) => trimTombstones(sql, clock.nowMs(), signal) }],
  };
}
