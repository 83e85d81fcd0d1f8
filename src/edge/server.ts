/** The edge: one listener for the API and every page's own origin. */
import uWS, { type us_listen_socket } from 'uWebSockets.js';
import { endpoints, type SocketEndpointId } from '../../protocol/table.ts';
import { Dispatcher, type EdgeDeps } from './dispatcher.ts';

export interface Edge {
  readonly port: number;
  /** Takes no new connection; those that are open are closed after their next answer, WebSockets at once. */
  stopListening(): void;
  /** Resolves when every request taken has been answered. */
  idle(): Promise<void>;
  /** Closes every connection. */
  close(): void;
}

export class PortTaken extends Error {
  override readonly name = 'PortTaken';
}

type Listen = (host: string, port: number, options: number, bound: (socket: us_listen_socket | false) => void) => void;

/** Without it a second process shares the port unnoticed. The package's typing knows neither the option nor this overload. */
const EXCLUSIVE_PORT = 1;

/** Listens and answers. Throws PortTaken. */
export async function startEdge(deps: EdgeDeps): Promise<Edge> {
  const { HOST, PORT } = deps.settings;
  const app = uWS.App();
  const bound = await new Promise<us_listen_socket | false>((resolve) => {
    const listen = app.listen as unknown as Listen;
    listen.call(app, HOST, PORT, EXCLUSIVE_PORT, resolve);
  });
  if (!bound) throw new PortTaken(`Cannot listen on ${HOST}:${PORT}: another process has the port, or the address is not of this machine.`);
  const port = uWS.us_socket_local_port(bound);
  const dispatcher = new Dispatcher(deps, deps.config(port));
  for (const id of Object.keys(deps.sockets) as SocketEndpointId[]) {
    const pattern = endpoints[id].path.replace(/\{(\w+)\}/g, ':$1');
    app.ws(
      pattern,
      dispatcher.sockets.behavior(id, app, (response, request, context) => dispatcher.take(response, request, context)),
    );
  }
  app.any('/*', (response, request) => dispatcher.take(response, request));
  dispatcher.readiness.state = 'serving';
  return {
    port,
    stopListening() {
      if (dispatcher.readiness.state === 'draining') return;
      dispatcher.readiness.state = 'draining';
      uWS.us_listen_socket_close(bound);
      dispatcher.stopStreams();
      dispatcher.sockets.closeAll();
    },
    idle: () => dispatcher.idle(),
    close() {
      dispatcher.readiness.state = 'draining';
      app.close();
    },
  };
}
