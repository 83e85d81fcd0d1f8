/** The stock clients of both collaboration protocols, every version behind the same interface. */
import * as hocuspocus4 from '@hocuspocus/provider';
import * as hocuspocus2 from 'hocuspocus-provider-2';
import * as hocuspocus3 from 'hocuspocus-provider-3';
import { WebSocket } from 'ws';
import { Awareness } from 'y-protocols/awareness';
import { WebsocketProvider as YWebsocket3 } from 'y-websocket';
import { WebsocketProvider as YWebsocket2 } from 'y-websocket-2';
import * as Y from 'yjs';
import { readMessage } from '../../src/realtime/wire.ts';

export const PROVIDER_KINDS = ['y-websocket 2', 'y-websocket 3', 'hocuspocus 2', 'hocuspocus 3', 'hocuspocus 4'] as const;
export type ProviderKind = (typeof PROVIDER_KINDS)[number];

export interface Where {
  /** `http://127.0.0.1:1234` */
  readonly baseUrl: string;
  readonly artifactId: string;
  readonly document: string;
  readonly token?: string;
}

export interface Joining extends Where {
  readonly doc?: Y.Doc;
  /** A socket from `openConnection` for several documents. Hocuspocus only. */
  readonly connection?: Connection;
  /** Allows several providers of one document on one socket, in version 4 of Hocuspocus. */
  readonly isSessionAware?: boolean;
}

/** The interface of every provider to the tests. */
interface Face {
  readonly isSynced: () => boolean;
  /** Changes without an acknowledgement; undefined where the protocol has none. */
  readonly unsynced: () => number | undefined;
  readonly scope: () => string | undefined;
  readonly isConnected: () => boolean;
  readonly connect: () => void;
  readonly disconnect: () => void;
  /** Leaves the document; a socket that others share stays. */
  readonly leave: () => void;
  readonly destroy: () => void;
}

/** One person's copy of a document, connected by one provider. */
export class Client {
  readonly kind: ProviderKind;
  readonly doc: Y.Doc;
  readonly awareness: Awareness;
  /** The reason with which the server refused the document. */
  readonly denials: string[] = [];
  /** The number of opened connections. */
  opened = 0;
  readonly #face: Face;
  readonly #looks = new Set<() => void>();
  #durableClock = 0;

  constructor(kind: ProviderKind, doc: Y.Doc, awareness: Awareness, connect: (client: Client) => Face) {
    this.kind = kind;
    this.doc = doc;
    this.awareness = awareness;
    this.#face = connect(this);
    doc.on('update', () => this.look());
    awareness.on('change', () => this.look());
  }

  get text(): Y.Text {
    return this.doc.getText('text');
  }

  get isSynced(): boolean {
    return this.#face.isSynced();
  }

  get isConnected(): boolean {
    return this.#face.isConnected();
  }

  get unsynced(): number | undefined {
    return this.#face.unsynced();
  }

  /** Settles when the client is synced and, where the protocol has acknowledgements, the server has all its edits. */
  get isSaved(): boolean {
    return this.isSynced && (this.unsynced ?? 0) === 0;
  }

  get scope(): string | undefined {
    return this.#face.scope();
  }

  /** The Yjs clock up to which the server acknowledged this client's edits. Exact where it types only while it is connected. */
  get durableClock(): number {
    if (this.unsynced !== undefined && this.isSaved) this.#durableClock = Y.getState(this.doc.store, this.doc.clientID);
    return this.#durableClock;
  }

  /** Handles an update from the server. The echo of an own update means that it is durable; Hocuspocus counts statuses instead. */
  heard(update: Uint8Array): void {
    this.#durableClock = Math.max(this.#durableClock, Y.parseUpdateMeta(update).to.get(this.doc.clientID) ?? 0);
    this.look();
  }

  /** The awareness states of the other clients. */
  get others(): readonly Readonly<Record<string, unknown>>[] {
    return [...this.awareness.getStates()].flatMap(([id, state]) => (id === this.doc.clientID ? [] : [state]));
  }

  type(text: string): void {
    this.text.insert(this.text.length, text);
  }

  /** Waits for a condition, which is checked after every event of this client. */
  until(holds: (client: Client) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!holds(this)) return;
        this.#looks.delete(look);
        resolve();
      };
      this.#looks.add(look);
      look();
    });
  }

  /** Signals an event. */
  readonly look = (): void => {
    for (const look of [...this.#looks]) look();
  };

  /** Reconnects after `disconnect`. */
  connect(): void {
    this.#face.connect();
  }

  /** Disconnects without reconnecting. */
  disconnect(): void {
    this.#face.disconnect();
  }

  /** Leaves the document; a socket that others share stays. */
  leave(): void {
    this.#face.leave();
  }

  close(): void {
    this.#face.destroy();
    this.awareness.destroy();
  }
}

/** As in browsers, closing a connecting socket does not throw; providers do so when they are destroyed, and have no listener then. */
class ForgivingWebSocket extends WebSocket {
  constructor(url: string | URL, protocols?: string | string[]) {
    super(url, protocols);
    this.on('error', () => undefined);
  }
}

type HocuspocusKind = 'hocuspocus 2' | 'hocuspocus 3' | 'hocuspocus 4';

/** One socket of Hocuspocus for several documents. */
export interface Connection {
  readonly kind: HocuspocusKind;
  readonly socket:
    | hocuspocus2.HocuspocusProviderWebsocket
    | hocuspocus3.HocuspocusProviderWebsocket
    | hocuspocus4.HocuspocusProviderWebsocket;
  close(): void;
}

export function openConnection(kind: HocuspocusKind, { baseUrl, artifactId }: Pick<Where, 'baseUrl' | 'artifactId'>): Connection {
  // Short reconnect delays, because the tests wait for a restarted server in real time.
  const settings = {
    url: `${baseUrl.replace('http', 'ws')}/v1/data/${artifactId}/realtime`,
    WebSocketPolyfill: ForgivingWebSocket,
    delay: 50,
    minDelay: 50,
    maxDelay: 200,
  };
  const socket =
    kind === 'hocuspocus 2'
      ? new hocuspocus2.HocuspocusProviderWebsocket(settings)
      : kind === 'hocuspocus 3'
        ? new hocuspocus3.HocuspocusProviderWebsocket(settings)
        : new hocuspocus4.HocuspocusProviderWebsocket(settings);
  return { kind, socket, close: () => socket.destroy() };
}

export function join(kind: ProviderKind, joining: Joining): Client {
  const doc = joining.doc ?? new Y.Doc();
  const awareness = new Awareness(doc);
  if (kind === 'y-websocket 2' || kind === 'y-websocket 3')
    return new Client(kind, doc, awareness, (client) => yWebsocket(kind, client, joining));
  return new Client(kind, doc, awareness, (client) => hocuspocus(kind, client, joining));
}

interface YProvider {
  readonly synced: boolean;
  readonly wsconnected: boolean;
  on(event: string, listener: (event: { readonly status?: string } | undefined) => void): void;
  connect(): void;
  disconnect(): void;
  destroy(): void;
}

/** Passes received frames to the client's `heard` too. */
function tapped(client: Client): new (url: string, protocols: string[]) => WebSocket {
  return class extends ForgivingWebSocket {
    constructor(url: string, protocols: string[]) {
      super(url, protocols);
      this.on('message', (data) => {
        const message = readMessage(new Uint8Array(data as unknown as ArrayBuffer));
        if (message.kind === 'update') client.heard(message.update);
      });
    }
  };
}

function yWebsocket(kind: 'y-websocket 2' | 'y-websocket 3', client: Client, { baseUrl, artifactId, document, token }: Joining): Face {
  const url = `${baseUrl.replace('http', 'ws')}/v1/data/${artifactId}/realtime`;
  const settings = {
    awareness: client.awareness,
    params: token === undefined ? ({} as Record<string, string>) : { token },
    WebSocketPolyfill: tapped(client),
    disableBc: true,
    maxBackoffTime: 200,
  };
  // Both differ only in the names of their event types.
  const Provider = (kind === 'y-websocket 2' ? YWebsocket2 : YWebsocket3) as unknown as new (
    url: string,
    room: string,
    doc: Y.Doc,
    options: typeof settings,
  ) => YProvider;
  const provider = new Provider(url, document, client.doc, settings);
  provider.on('sync', client.look);
  provider.on('status', (event) => {
    if (event?.status === 'connected') client.opened += 1;
    client.look();
  });
  provider.on('connection-close', client.look);
  provider.on('connection-error', client.look);
  return {
    isSynced: () => provider.synced,
    unsynced: () => undefined,
    scope: () => undefined,
    isConnected: () => provider.wsconnected,
    connect: () => provider.connect(),
    disconnect: () => provider.disconnect(),
    leave: () => provider.disconnect(),
    destroy: () => provider.destroy(),
  };
}

function hocuspocus(kind: HocuspocusKind, client: Client, joining: Joining): Face {
  const own = joining.connection === undefined ? openConnection(kind, joining) : undefined;
  const { socket } = joining.connection ?? own ?? openConnection(kind, joining);
  const settings = {
    name: joining.document,
    document: client.doc,
    awareness: client.awareness,
    token: joining.token ?? '',
    onAuthenticationFailed: ({ reason }: { reason: string }) => {
      client.denials.push(reason);
      client.look();
    },
    onAuthenticated: client.look,
    onSynced: client.look,
  };
  const provider = providerOf(kind, socket, settings, joining.isSessionAware ?? false);
  provider.on('unsyncedChanges', client.look);
  provider.on('close', client.look);
  // The provider's own event is not used, because version 2 fires it twice.
  socket.on('open', () => {
    client.opened += 1;
    client.look();
  });
  socket.on('close', client.look);
  return {
    isSynced: () => provider.isSynced,
    unsynced: () => provider.unsyncedChanges,
    scope: () => provider.authorizedScope,
    isConnected: () => socket.status === 'connected',
    connect: () => void socket.connect(),
    disconnect: () => socket.disconnect(),
    leave: () => provider.destroy(),
    destroy: () => {
      provider.destroy();
      own?.close();
    },
  };
}

interface Settings {
  readonly name: string;
  readonly document: Y.Doc;
  readonly awareness: Awareness;
  readonly token: string;
  readonly onAuthenticationFailed: (failed: { reason: string }) => void;
  readonly onAuthenticated: () => void;
  readonly onSynced: () => void;
}

function providerOf(kind: HocuspocusKind, socket: Connection['socket'], settings: Settings, sessionAwareness: boolean) {
  if (kind === 'hocuspocus 2') {
    return new hocuspocus2.HocuspocusProvider({
      ...settings,
      broadcast: false,
      websocketProvider: socket as hocuspocus2.HocuspocusProviderWebsocket,
    });
  }
  if (kind === 'hocuspocus 3') {
    const provider = new hocuspocus3.HocuspocusProvider({
      ...settings,
      websocketProvider: socket as hocuspocus3.HocuspocusProviderWebsocket,
    });
    provider.attach();
    return provider;
  }
  const provider = new hocuspocus4.HocuspocusProvider({
    ...settings,
    sessionAwareness,
    websocketProvider: socket as hocuspocus4.HocuspocusProviderWebsocket,
  });
  provider.attach();
  return provider;
}
