/** One durable channel of one socket: what the changes engine tells, as frames. */
import { CLOSE } from '../../../protocol/close-codes.ts';
import { Failure } from '../../../protocol/errors.ts';
import type { DurableChannel } from '../../../protocol/schemas/channel.ts';
import type { Outlet, Taken } from '../../services/changes/follower.ts';
import { eventText, frameText } from './frames.ts';

export interface DurableClient {
  send(text: string): Taken;
  close(code: number, reason: string): void;
  /** Whether comments may still be read has to be asked anew. */
  recheckComments(): void;
}

/** `id`: of the frame that has subscribed. */
export function channelOutlet(client: DurableClient, channel: DurableChannel, id: string | undefined): Outlet {
  /** What cannot be sent again later: without it the client would not know where it stands. */
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
    end: () => client.close(CLOSE.moved, 'Come back and resume.'),
    fail: (error) => {
      if (error instanceof Failure && error.code === 'ARTIFACT_NOT_FOUND') client.close(CLOSE.gone, 'The artifact is gone.');
      else client.close(CLOSE.moved, 'What was missed could not be read.');
    },
  };
}
