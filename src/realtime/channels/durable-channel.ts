/** One durable channel of one socket: turns the events of the changes engine into frames. */
import { CLOSE } from '../../../protocol/core/close-codes.ts';
import { Failure } from '../../../protocol/core/errors.ts';
import type { DurableChannel } from '../../../protocol/data/realtime.ts';
import type { Outlet, Taken } from '../../features/data/changes/follower.ts';
import { eventText, frameText } from './frames.ts';

export interface DurableClient {
  send(text: string): Taken;
  close(code: number, reason: string): void;
  /** Called when the right to read comments must be checked again. */
  recheckComments(): void;
}

/** `id` is that of the frame that subscribed. */
export function channelOutlet(client: DurableClient, channel: DurableChannel, id: string | undefined): Outlet {
  /** Sends a frame that must not be dropped, because the client needs it to know its position. */
  const sendSurely = (text: string): Taken => {
    const taken = client.send(text);
    if (taken === 'skipped') client.close(CLOSE.overloaded, 'The client reads too slowly.');
    return taken;
  };
  return {
    begin: (seq) => sendSurely(frameText({ type: 'subscribed', channel, seq, ...(id !== undefined && { id }) })),
    reset: (seq) => sendSurely(frameText({ type: 'reset', channel, seq })),
    event: (event) => client.send(eventText(event)),
    ...(channel === 'comments' && { recheck: () => client.recheckComments() }),
    end: () => client.close(CLOSE.moved, 'Reconnect and resume.'),
    fail: (error) => {
      if (error instanceof Failure && error.code === 'ARTIFACT_NOT_FOUND') client.close(CLOSE.gone, 'The artifact is gone.');
      else client.close(CLOSE.moved, 'The missed changes could not be read.');
    },
  };
}
