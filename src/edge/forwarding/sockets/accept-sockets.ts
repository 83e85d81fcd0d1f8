/** Which handlers a WebSocket gets: those of the door where its artifact is here, wherever its client is, and otherwise those that pass everything on. */
import type { TemplatedApp, us_socket_context_t, WebSocket, WebSocketBehavior } from 'uWebSockets.js';
import { endpoints, type SocketEndpointId } from '../../../../protocol/table.ts';
import type { Dispatcher } from '../../dispatcher.ts';
import type { FanOut } from '../../fan-out.ts';
import { ReleasedHandlers } from '../../released-handlers.ts';
import type { SocketDoor } from '../../socket-door.ts';
import type { SeatedSocket } from '../../socket-link.ts';
import type { UpgradeCork } from '../../upgrade-cork.ts';
import type { PeerStream } from '../peer-stream.ts';
import { CarriedSockets } from './carried-sockets.ts';
import type { RelayedData, RelayedSocket } from './relayed-socket.ts';
import type { RelayedSockets } from './relayed-sockets.ts';

type DoorBehavior = ReturnType<SocketDoor['behavior']>;
type DoorSocket = Parameters<DoorBehavior['open']>[0];
type DoorData = ReturnType<DoorSocket['getUserData']>;

export interface AcceptedSockets {
  /** Takes a stream of a node that keeps clients of artifacts of this one. */
  takeLane(stream: PeerStream): void;
  /** After the app was closed. */
  release(): void;
}

/** Routes the endpoints. */
export function acceptSockets(
  app: TemplatedApp,
  dispatcher: Dispatcher,
  ids: readonly SocketEndpointId[],
  cork: UpgradeCork,
): AcceptedSockets {
  const released: { release(): void }[] = [];
  const behaviors = new Map<SocketEndpointId, DoorBehavior>();
  const local = { publish: (topic: string, frame: Uint8Array | string, isBinary: boolean) => void app.publish(topic, frame, isBinary) };
  const carried = new CarriedSockets<DoorData['seat']>({
    // A carried upgrade has no connection of this node that it could become.
    take: (response, request) => {
      const context = undefined as unknown as us_socket_context_t;
      dispatcher.takeCarriedCall(response, request, { context, cork: { run: (upgrade) => upgrade() } });
    },
    behaviorOf({ seat }: SeatedSocket<DoorData['seat']>) {
      const behavior = behaviors.get(seat.id);
      if (behavior === undefined) throw new Error(`${seat.id} is not routed`);
      return behavior;
    },
    local,
  });
  const fanOut: FanOut = { ...local, carry: (topic, frame, isBinary, author) => carried.carry(topic, frame, isBinary, author) };
  const { relayed } = dispatcher;
  relayed?.attach(app);
  for (const id of ids) {
    const pattern = endpoints[id].path.replace(/\{(\w+)\}/g, ':$1');
    const behavior = dispatcher.sockets.behavior(id, fanOut, (response, request, context) =>
      dispatcher.take(response, request, { context, cork }),
    );
    behaviors.set(id, behavior);
    if (relayed === undefined) released.push(route(app, pattern, behavior));
    else released.push(route(app, pattern, either(behavior, relayed)));
  }
  return {
    takeLane: (stream) => carried.takeLane(stream),
    release() {
      for (const handlers of released) handlers.release();
    },
  };
}

function route<Data>(app: TemplatedApp, pattern: string, behavior: WebSocketBehavior<Data>): ReleasedHandlers<Data> {
  const handlers = new ReleasedHandlers(behavior);
  app.ws(pattern, handlers.handlers());
  return handlers;
}

/** A socket stays what it was when it was opened. */
function either(door: DoorBehavior, relayed: RelayedSockets): WebSocketBehavior<DoorData | RelayedData> {
  const ofDoor = (socket: WebSocket<DoorData | RelayedData>) => socket as unknown as DoorSocket;
  const relayedOf = (socket: WebSocket<DoorData | RelayedData>): RelayedSocket | undefined => {
    const data = socket.getUserData();
    return 'relayed' in data ? data.relayed : undefined;
  };
  return {
    ...door,
    open(socket) {
      const own = relayedOf(socket);
      if (own === undefined) door.open(ofDoor(socket));
      else relayed.opened(own, socket as unknown as WebSocket<RelayedData>, door);
    },
    message(socket, data, isBinary) {
      const own = relayedOf(socket);
      if (own === undefined) door.message(ofDoor(socket), data, isBinary);
      else relayed.said(own, data, isBinary);
    },
    dropped(socket) {
      const own = relayedOf(socket);
      if (own === undefined) door.dropped(ofDoor(socket));
      else own.missed();
    },
    drain(socket) {
      const own = relayedOf(socket);
      if (own === undefined) door.drain(ofDoor(socket));
      else own.drained();
    },
    close(socket, code, message) {
      const own = relayedOf(socket);
      if (own === undefined) door.close(ofDoor(socket), code, message);
      else own.closed(code, message);
    },
  };
}
