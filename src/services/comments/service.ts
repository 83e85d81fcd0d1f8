/** Everything that answers for comments, put together. */
import type { ActorRuntime } from '../../../actors/runtime.ts';
import type { EndpointId } from '../../../protocol/table.ts';
import type { Handlers } from '../../edge/call.ts';
import type { ServiceDeps } from '../deps.ts';
import type { Identities } from '../identities.ts';
import { guestHandlers } from './guests.ts';
import { commentChangeHandlers, commentReadHandlers } from './handlers.ts';
import { Quotes } from './quotes.ts';
import { commentSettingsHandlers } from './settings.ts';
import { commentWriteHandlers } from './writing.ts';

export interface CommentServiceDeps extends ServiceDeps {
  readonly runtime: Pick<ActorRuntime, 'ask'>;
  readonly identities: Identities;
  /** To be woken when mail was queued. */
  readonly mail: { wake(): void };
}

export function commentHandlers(deps: CommentServiceDeps): Handlers<Extract<EndpointId, `comments.${string}`>> {
  const all = { ...deps, quotes: new Quotes(deps) };
  return {
    ...commentReadHandlers(all),
    ...commentChangeHandlers(all),
    ...commentWriteHandlers(all),
    ...commentSettingsHandlers(all),
    ...guestHandlers(all),
  };
}
