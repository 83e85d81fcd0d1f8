import { randomUUID } from 'node:crypto';
import type { SocketEndpointId } from '../../protocol/table.ts';
import type { Authenticator, Heads } from '../edge/admission.ts';
import type { CommentsGate } from '../features/data/changes/comments-gate.ts';
import type { ChangeHub } from '../features/data/changes/hub.ts';
import type { Module, ModuleDeps } from '../features/module.ts';
import type { AccessWatch } from '../features/people/access-watch/access-watch.ts';
import type { Identities } from '../features/people/identities/identities.ts';
import { DatasetsFeed } from './channels/datasets-feed.ts';
import { ChannelsProtocol } from './channels/protocol.ts';
import { VersionsFeed } from './channels/versions-feed.ts';
import { Connections } from './connections.ts';
import { realtimeHandlers } from './handlers.ts';
import { hocuspocus } from './hocuspocus.ts';
import { leased } from './leased-link.ts';
import { RoomDirectory } from './rooms.ts';
import { yWebsocket } from './y-websocket.ts';

interface Needed {
  readonly tokens: Authenticator;
  readonly heads: Heads;
  readonly access: AccessWatch;
  readonly identities: Identities;
  readonly hub: ChangeHub;
  readonly mayReadComments: CommentsGate;
}

interface Offered {
  readonly connections: Connections;
  readonly rooms: RoomDirectory;
}

export function realtimeModule(deps: ModuleDeps & Needed): Module<SocketEndpointId> & Offered {
  const connections = new Connections();
  const rooms = new RoomDirectory(deps);
  const speaking = { ...deps, watch: deps.access, connections, rooms, newSessionId: randomUUID };
  const mayAnswer = () => deps.runtime.mayAnswer();
  return {
    connections,
    rooms,
    handlers: realtimeHandlers(),
    sockets: {
      'realtime.sync': leased(yWebsocket(speaking), mayAnswer),
      'realtime.hocuspocus': leased(hocuspocus(speaking), mayAnswer),
      'realtime.channels': leased(
        new ChannelsProtocol({ ...deps, versions: new VersionsFeed(deps), datasets: new DatasetsFeed(deps), connections }),
        mayAnswer,
      ),
    },
    gauges: [
      { name: 'easel_rooms_open', help: 'Collaborative documents that somebody has open.', read: () => rooms.size },
      { name: 'easel_outflow_bytes', help: 'Bytes of whole documents on their way to slow peers.', read: () => rooms.outflowBytes },
      {
        name: 'easel_outflow_waiting',
        help: 'Members of documents that wait to be sent what they lack.',
        read: () => rooms.outflowWaiting,
      },
    ],
  };
}
