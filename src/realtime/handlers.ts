/** The answer of a WebSocket endpoint to a request that is no upgrade. */
import { Failure } from '../../protocol/core/errors.ts';
import type { SocketEndpointId } from '../../protocol/table.ts';
import type { Handlers } from '../edge/call.ts';

function upgradeRequired(): never {
  throw new Failure('UPGRADE_REQUIRED');
}

export function realtimeHandlers(): Handlers<SocketEndpointId> {
  return { 'realtime.sync': upgradeRequired, 'realtime.hocuspocus': upgradeRequired, 'realtime.channels': upgradeRequired };
}
