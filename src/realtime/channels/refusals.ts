/** What a client of …/channels is told in an error frame. */
import type { Decision } from '../../../actors/access.ts';
import { Failure } from '../../../protocol/errors.ts';
import type { ChannelName } from '../../../protocol/schemas/channel.ts';

export function tooMany(hint: string): Failure {
  return new Failure('RATE_LIMITED', { hint });
}

export function notSubscribed(channel: ChannelName): Failure {
  const hint = `Send {"type":"subscribe","channel":"${channel}"}.`;
  return new Failure('INVALID_REQUEST', { message: `Subscribe to ${channel} first.`, hint });
}

/** Throws UNAUTHORIZED, ARTIFACT_NOT_FOUND, FORBIDDEN or INSUFFICIENT_SCOPE. */
export function assertAllowed(decision: Decision): void {
  switch (decision) {
    case 'allowed':
      return;
    case 'unauthenticated':
      throw new Failure('UNAUTHORIZED', { reason: 'missing' });
    case 'hidden':
      throw new Failure('ARTIFACT_NOT_FOUND');
    case 'forbidden':
      throw new Failure('FORBIDDEN');
    case 'insufficient_scope':
      throw new Failure('INSUFFICIENT_SCOPE');
    default:
      decision satisfies never;
  }
}
