/** The failures that clients of …/channels get in error frames. */
import { Failure } from '../../../protocol/core/errors.ts';
import type { ChannelName } from '../../../protocol/data/realtime.ts';

export function tooMany(hint: string): Failure {
  return new Failure('RATE_LIMITED', { hint });
}

export function notSubscribed(channel: ChannelName): Failure {
  const hint = `Send {"type":"subscribe","channel":"${channel}"}.`;
  return new Failure('INVALID_REQUEST', { message: `Subscribe to ${channel} first.`, hint });
}
