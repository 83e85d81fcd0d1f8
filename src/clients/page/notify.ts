/** `easel.notifyOwner` */
import type * as api from './api.ts';
import { EaselError } from './errors.ts';
import { solveProof } from './proof.ts';
import type { Surroundings, Transport } from './transport.ts';
import type { EmailChallenge, OwnerNotified } from './wire.ts';

export function notifierOf(transport: Transport, around: Pick<Surroundings, 'wait'>): api.Easel['notifyOwner'] {
  return async (message, { signal } = {}) => {
    const { subject, text, html, replyTo } = typeof message === 'string' ? { text: message } : message;
    const send = (proof?: { readonly challenge: string; readonly solution: string }) =>
      transport.call<OwnerNotified>({
        method: 'POST',
        path: '/email/notify-owner',
        body: { subject, text, html, replyTo, proof },
        signal,
      });
    try {
      return await send();
    } catch (error) {
      // Only visitors without a proved address work for it, and the page does not know who looks at it.
      if (!(error instanceof EaselError) || error.code !== 'PROOF_INVALID') throw error;
    }
    const { challenge, bits } = await transport.call<EmailChallenge>({ method: 'POST', path: '/email/challenge', reads: true, signal });
    return send({ challenge, solution: await solveProof(challenge, bits, { wait: around.wait, signal }) });
  };
}
