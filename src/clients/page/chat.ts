/** `easel.chat`: what visitors write to the makers of the page, and the answers. */
import type * as api from './api-outside.ts';
import type { Keeper } from './comments.ts';
import { EaselError } from './errors.ts';
import { solveProof } from './proof.ts';
import type { Request, Surroundings, Transport } from './transport.ts';
import type { EmailChallenge, PageChatPage, PageChatSettings, PageChatWritten } from './wire.ts';

type Around = Pick<Surroundings, 'wait'> & Pick<Keeper, 'kept' | 'keep' | 'isSignedIn'>;

const NOTHING: PageChatPage = { status: 'open', messages: [], hasMore: false };

export function chatOf(artifactId: string, transport: Pick<Transport, 'call'>, { wait, kept, keep, isSignedIn }: Around): api.Chat {
  // The browser keeps the secret, so that a visitor finds the answers when they come again.
  const name = `easel.chat.${artifactId}`;
  const secretOf = () => kept(name) ?? undefined;
  /** A chat that is gone, with its secret. */
  const isGone = (error: unknown) => error instanceof EaselError && error.code === 'TICKET_NOT_FOUND';

  /** Not repeated by itself: a message that arrived although its answer was lost would stand there twice. */
  const request = (body: object): Request => ({ method: 'POST', path: '/support', body, once: true });

  async function write(text: string, { name: author, email, signal }: api.ChatOptions): Promise<PageChatWritten> {
    const message = { text, name: author, email };
    const secret = secretOf();
    if (secret !== undefined) {
      try {
        return await transport.call<PageChatWritten>({ ...request({ ...message, secret }), signal });
      } catch (error) {
        if (!isGone(error)) throw error;
        keep(name, undefined);
      }
    }
    // Only visitors without a proved address work for it. Who is not signed in has none; of others the page does not know.
    if (isSignedIn?.() !== false) {
      try {
        return await transport.call<PageChatWritten>({ ...request(message), signal });
      } catch (error) {
        if (!(error instanceof EaselError) || error.code !== 'PROOF_INVALID') throw error;
      }
    }
    const { challenge, bits } = await transport.call<EmailChallenge>({ method: 'POST', path: '/support/challenge', reads: true, signal });
    const proof = { challenge, solution: await solveProof(challenge, bits, { wait, signal }) };
    return transport.call<PageChatWritten>({ ...request({ ...message, proof }), signal });
  }

  return {
    settings: ({ signal } = {}) => transport.call<PageChatSettings>({ method: 'GET', path: '/support/_config', signal }),
    async write(text, options = {}) {
      const written = await write(text, options);
      keep(name, written.secret);
      return { status: written.status, message: written.message };
    },
    async read({ after, signal } = {}) {
      const secret = secretOf();
      if (secret === undefined) return NOTHING;
      try {
        return await transport.call<PageChatPage>({ method: 'POST', path: '/support/read', body: { secret, after }, reads: true, signal });
      } catch (error) {
        if (!isGone(error)) throw error;
        keep(name, undefined);
        return NOTHING;
      }
    },
  };
}
