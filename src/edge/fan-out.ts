/** Where a frame goes that is published to a topic. */
export interface FanOut {
  /** To every subscriber that is connected to this node. */
  publish(topic: string, frame: Uint8Array | string, isBinary: boolean): void;
  /** To every subscriber that is connected to another node, but for the author. */
  carry(topic: string, frame: Uint8Array | string, isBinary: boolean, author?: unknown): void;
}
