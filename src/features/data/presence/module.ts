import type { Connections } from '../../../realtime/connections.ts';
import type { Module } from '../../module.ts';
import { presenceHandlers } from './handlers.ts';

type Ids = keyof ReturnType<typeof presenceHandlers>;

export function presenceModule(deps: { readonly connections: Connections }): Module<Ids> {
  return { handlers: presenceHandlers(deps) };
}
