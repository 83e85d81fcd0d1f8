/** uWebSockets keeps the handlers of an app for good, also of a closed one: what they lead to is behind a reference that can be cut. */
import type { WebSocketBehavior } from 'uWebSockets.js';

export class ReleasedHandlers<Data> {
  #behavior: WebSocketBehavior<Data> | undefined;

  constructor(behavior: WebSocketBehavior<Data>) {
    this.#behavior = behavior;
  }

  /** For `app.ws`. */
  handlers(): WebSocketBehavior<Data> {
    return {
      ...this.#behavior,
      upgrade: (response, request, context) => this.#behavior?.upgrade?.(response, request, context),
      open: (socket) => this.#behavior?.open?.(socket),
      message: (socket, data, isBinary) => this.#behavior?.message?.(socket, data, isBinary),
      dropped: (socket, data, isBinary) => this.#behavior?.dropped?.(socket, data, isBinary),
      drain: (socket) => this.#behavior?.drain?.(socket),
      close: (socket, code, message) => this.#behavior?.close?.(socket, code, message),
    };
  }

  /** Nothing is handled any more. */
  release(): void {
    this.#behavior = undefined;
  }
}
