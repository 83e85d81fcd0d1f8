/** Opens WebSockets whose upgrade is decided in a later turn than that of the request. */

import type { HttpResponse, us_listen_socket } from 'uWebSockets.js';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Addon } from './addon.ts';

/**
 * uWebSockets prints a warning for each upgrade outside a corked callback. The response's own `cork` cannot be that callback: where the
 * WebSocket takes the same place in memory, `cork` still treats it as the HTTP response and may read a "close the connection" flag from
 * unrelated bytes. Within the cork of another response uWebSockets does not warn, and that cork does not touch the upgraded socket. This
 * class keeps one response for it, to a request that the process makes itself and never answers.
 */
export class UpgradeCork {
  readonly #held: HttpResponse;
  readonly #end: () => void;
  #open = true;

  private constructor(held: HttpResponse, end: () => void) {
    this.#held = held;
    this.#end = end;
    held.onAborted(() => {
      this.#open = false;
    });
  }

  static async open(addon: Addon): Promise<UpgradeCork> {
    const app = addon.App();
    // Another process on this machine may connect first, but it does not know the path.
    const path = `/${randomBytes(16).toString('hex')}`;
    const opened = new Promise<UpgradeCork>((resolve) => {
      app.get(path, (response) => {
        const end = () => {
          client.destroy();
          app.close();
        };
        resolve(new UpgradeCork(response, end));
      });
    });
    const listening = await new Promise<us_listen_socket | false>((resolve) => app.listen('127.0.0.1', 0, resolve));
    if (!listening) throw new Error('Cannot listen on a free port of 127.0.0.1, which opening WebSockets needs.');
    const client = connect(addon.us_socket_local_port(listening), '127.0.0.1');
    await once(client, 'connect');
    client.on('error', () => client.destroy()).write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    const cork = await opened;
    addon.us_listen_socket_close(listening);
    return cork;
  }

  run(upgrade: () => void): void {
    // Without the cork the upgrade still works, with the warning.
    if (this.#open) this.#held.cork(upgrade);
    else upgrade();
  }

  close(): void {
    if (this.#open) this.#end();
  }
}
