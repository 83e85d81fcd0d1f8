/** The stock clients of both collaboration protocols, each version of them behind the same face. */
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
  /** Of `openConnection`: several documents on one socket. Hocuspocus only. */
  readonly connection?: Connection;
  /** Version 4 of Hocuspocus: several providers of one document on one socket. */
  readonly isSessionAware?: boolean;
}

/** What a test may know of a provider, whatever it is. */
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
  /** What the server said when it refused the document. */
  readonly denials: string[] = [];
  /** How often a connection was opened. */
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

  /** In step with the server, which has all that was typed. Where the protocol acknowledges nothing, only the former. */
  get isSaved(): boolean {
    return this.isSynced && (this.unsynced ?? 0) === 0;
  }

  get scope(): string | undefined {
    return this.#face.scope();
  }

  /** How much of what this client has made (in Yjs' clock) the server has said to be durable. Exact where it types only while it is connected. */
  get durableClock(): number {
    if (this.unsynced !== undefined && this.isSaved) this.#durableClock = Y.getState(this.doc.store, this.doc.clientID);
    return this.#durableClock;
  }

  /** An update that came from the server: its own is sent back to it once it is durable. Hocuspocus counts instead. */
  heard(update: Uint8Array): void {
    this.#durableClock = Math.max(this.#durableClock, Y.parseUpdateMeta(update).to.get(this.doc.clientID) ?? 0);
    this.look();
  }

  /** What each of the others who are here says of himself. */
  get others(): readonly Readonly<Record<string, unknown>>[] {
    return [...this.awareness.getStates()].flatMap(([id, state]) => (id === this.doc.clientID ? [] : [state]));
  }

  type(text: string): void {
    this.text.insert(this.text.length, text);
  }

  /** Looks again after everything that happens to this client. */
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

  /** Something has happened. */
  readonly look = (): void => {
    for (const look of [...this.#looks]) look();
  };

  /** Comes back after `disconnect`. */
  connect(): void {
    this.#face.connect();
  }

  /** Stays away. */
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

/** As in browsers, closing one that is still connecting is no exception: providers do so when they are destroyed, and listen no more. */
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
  // A server that restarts is found again soon: the tests wait for that in real time.
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

/** What comes on the socket is shown to the client's `heard` too. */
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
  // Both are alike but for the names of their events' types.
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
  // Not the provider's own event, which version 2 has twice.
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
