/** The edge: one listener for the API and every page's own origin. */
import type { HttpRequest, HttpResponse, us_listen_socket } from 'uWebSockets.js';
import type { Clock } from '../../actors/runtime/ports.ts';
import { Failure } from '../../protocol/core/errors.ts';
import type { SocketEndpointId } from '../../protocol/table.ts';
import type { Settings } from '../platform/config.ts';
import type { DependencyName } from '../platform/dependency-watch.ts';
import { loadAddon } from './addon.ts';
import { Dispatcher, type EdgeDeps } from './dispatcher.ts';
import { Exchange } from './exchange.ts';
import { failureAnswer } from './failures.ts';
import type { PeerStream } from './forwarding/peer-stream.ts';
import { acceptSockets } from './forwarding/sockets/accept-sockets.ts';
import { UpgradeCork } from './upgrade-cork.ts';

export interface Edge {
  readonly port: number;
  /** Accepts no new connection. Open connections are closed after their next answer, WebSockets at once. */
  stopListening(): void;
  /** Resolves when every request taken has been answered and every frame received has been handled. */
  idle(): Promise<void>;
  /** Resolves when no connection is left but WebSockets and those of streams. */
  deserted(): Promise<void>;
  /** Called again and again while a dependency is down. */
  dependencyDown(name: DependencyName): void;
  /** A call that another node has forwarded: its stream, and the head that it begins with. */
  takeCarried(stream: PeerStream, head: Buffer): void;
  /** Closes every connection. */
  close(): void;
}

/** The port, bound before anything else starts. Until `serve` every request is answered with 503. */
export interface BoundPort {
  readonly port: number;
  serve(deps: EdgeDeps): Edge;
  /** Releases the port after a failed start. */
  close(): void;
}

export class PortTaken extends Error {
  override readonly name = 'PortTaken';
}

type Listen = (host: string, port: number, options: number, bound: (socket: us_listen_socket | false) => void) => void;

/** Without this option a second process shares the port unnoticed. The package's types lack the option and this overload. */
const EXCLUSIVE_PORT = 1;

/** Throws `PortTaken` and `AddonUnusable`. */
export async function bindPort({ HOST, PORT, TRUST_PROXY }: Settings, clock: Clock): Promise<BoundPort> {
  const addon = await loadAddon();
  const app = addon.App();
  // Before it listens: uWebSockets answers a request that no route takes with a 404 of its own.
  let connectionChanged = hearNothing;
  let changes = 0;
  // biome-ignore lint/suspicious/useIterableCallbackReturn: this is uWebSockets' filter, which hears of connections
  app.filter((response, change) => {
    changes += Number(change);
    connectionChanged(response, Number(change));
  });
  let take = (response: HttpResponse, request: HttpRequest) => {
    const taken = { nowMs: clock.nowMs(), startedMs: clock.monotonicMs(), trustProxy: TRUST_PROXY, upgrade: undefined, answers: undefined };
    refuseWhileStarting(new Exchange(response, request, taken));
  };
  app.any('/*', (response, request) => take(response, request));
  const bound = await new Promise<us_listen_socket | false>((resolve) => {
    const listen = app.listen as unknown as Listen;
    listen.call(app, HOST, PORT, EXCLUSIVE_PORT, resolve);
  });
  if (!bound) throw new PortTaken(`Cannot listen on ${HOST}:${PORT}: another process has the port, or the address is not of this machine.`);
  const cork = await UpgradeCork.open(addon);
  const port = addon.us_socket_local_port(bound);
  return {
    port,
    serve(deps) {
      const dispatcher = new Dispatcher(deps);
      take = (response, request) => dispatcher.take(response, request);
      // Those that came while the process was starting.
      dispatcher.connections.begin(changes);
      connectionChanged = (response, change) => dispatcher.connections.changed(response, change);
      const accepted = acceptSockets(app, dispatcher, Object.keys(deps.sockets) as SocketEndpointId[], cork);
      dispatcher.readiness.state = 'serving';
      return {
        port,
        stopListening() {
          if (dispatcher.readiness.state === 'draining') return;
          dispatcher.readiness.state = 'draining';
          addon.us_listen_socket_close(bound);
          dispatcher.stopStreams();
          dispatcher.sockets.closeAll();
          dispatcher.relayed?.closeAll();
        },
        async idle() {
          await Promise.all([dispatcher.idle(), dispatcher.sockets.idle()]);
        },
        deserted: () => dispatcher.connections.deserted(),
        dependencyDown: (name) => dispatcher.dependencyDown(name),
        takeCarried(stream, head) {
          if (!dispatcher.takeCarried(stream, head)) accepted.takeLane(stream);
        },
        close() {
          dispatcher.readiness.state = 'draining';
          dispatcher.sockets.stop();
          dispatcher.relayed?.close();
          app.close();
          cork.close();
          // uWebSockets keeps the handlers of a closed app. What they lead to is let go; a function made here would hold all of it.
          accepted.release();
          take = closeConnection;
          connectionChanged = hearNothing;
        },
      };
    },
    close() {
      addon.us_listen_socket_close(bound);
      app.close();
      cork.close();
    },
  };
}

function hearNothing(_response: HttpResponse, _change: number): void {
  // Nobody counts connections before the service starts, nor after it has closed.
}

function closeConnection(response: HttpResponse): void {
  response.close();
}

/**
 * Closes the connection after the answer, so that the unread body need not pass. An EventSource gives up for good after any answer but 200,
 * and comes back after a lost connection: it gets no answer.
 */
function refuseWhileStarting(exchange: Exchange): void {
  const { requestId, path, headers } = exchange;
  if (headers.get('accept').includes('text/event-stream')) {
    exchange.drop();
    return;
  }
  const failure = new Failure('UNAVAILABLE', { message: 'The process is starting.' });
  exchange.send(failureAnswer(failure, { requestId, path, accept: headers.get('accept') }), true, () => undefined);
}
