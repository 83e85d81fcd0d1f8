/**
 * The shared documents of a page, over one WebSocket with the Hocuspocus protocol, because that reports write access, acknowledges stored updates
 * and gives a reason for refusals. Bundled with y-protocols' awareness as /sdk-doc.mjs, which the SDK loads when a document is first opened.
 */

import { createDecoder, readVarString, readVarUint } from 'lib0/decoding';
import type { ConnectionState, SharedDoc, YjsModule } from './api.ts';
import type { Connection, ConnectionUser } from './connection.ts';
import { Session, type SessionDeps, type Yjs } from './doc-session.ts';

export interface RoomDeps extends Omit<SessionDeps, 'send' | 'live' | 'left'> {
  readonly connect: (user: ConnectionUser) => Connection;
  readonly became: (state: ConnectionState) => void;
}

export interface DocRoom {
  /** The open document of this name, or a new one. */
  join<M extends YjsModule>(name: string, Y: M, doc: InstanceType<M['Doc']> | undefined): SharedDoc<M>;
}

/** Hocuspocus message type; the server answers it with a pong. */
const PING = Uint8Array.of(9);

export function openRoom(deps: RoomDeps): DocRoom {
  const sessions = new Map<string, Session>();
  const connection = deps.connect({
    path: '/realtime',
    probe: PING,
    opened: () => {
      for (const session of sessions.values()) session.opened();
    },
    heard: (data) => {
      // A pong names no document.
      if (!(data instanceof ArrayBuffer) || data.byteLength < 2) return;
      const decoder = createDecoder(new Uint8Array(data));
      const session = sessions.get(readVarString(decoder));
      session?.heard(readVarUint(decoder), decoder);
    },
    became: (state, error) => {
      deps.became(state);
      for (const session of [...sessions.values()]) session.connectionBecame(state, error);
    },
  });
  const sessionDeps = {
    ...deps,
    send: (frame: Uint8Array) => connection.send(frame),
    live: () => connection.ready(),
    left: (session: Session, state: ConnectionState) => {
      sessions.delete(session.name);
      if (sessions.size > 0) return;
      connection.close();
      deps.became(state);
    },
  };
  return {
    join(name, Y, doc) {
      const known = sessions.get(name);
      // The open document decides which copy of Yjs is used.
      if (known !== undefined) return known as unknown as SharedDoc<typeof Y>;
      const session = new Session(name, Y as unknown as Yjs, doc ?? new Y.Doc(), sessionDeps);
      sessions.set(name, session);
      connection.open();
      session.connectionBecame(connection.state === 'live' ? 'connecting' : connection.state, undefined);
      session.opened();
      return session as unknown as SharedDoc<typeof Y>;
    },
  };
}
