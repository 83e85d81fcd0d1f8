import type { Module } from '../../module.ts';
import type { Identities } from '../../people/identities/identities.ts';
import { viewerHandlers } from './handlers.ts';

export function viewerModule(deps: { readonly identities: Identities }): Module<'viewer.get'> {
  return { handlers: viewerHandlers(deps) };
}
