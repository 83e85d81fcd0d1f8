/** Receives mail by SMTP where SUPPORT_SMTP_PORT is set, for installations without a mail gateway. It relays nothing. */
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import { RATE_LIMITS } from '../../../../../protocol/core/rate-limits.ts';
import { networkOf } from '../../../../edge/address.ts';
import { supportAddressOf, tokenIn } from '../rules.ts';
import { isTransient, type MailDeps, takeMail } from './take-mail.ts';

export class MailReceiver {
  readonly #deps: MailDeps;
  readonly #port: number;
  readonly #host: string;
  readonly #ending = new AbortController();
  #server: SMTPServer | undefined;
  /** Open connections by network, by the ids of their sessions. */
  readonly #connections = new Map<string, Set<string>>();
  /** What mails hold in memory that are being received or taken. */
  #heldBytes = 0;

  constructor(deps: MailDeps, { port, host }: { readonly port: number; readonly host: string }) {
    this.#deps = deps;
    this.#port = port;
    this.#host = host;
  }

  start(): void {
    const { log, limiters } = this.#deps;
    const server = new SMTPServer({
      // There are no accounts here, and what a mail says counts for what its sender could say anywhere.
      disabledCommands: ['AUTH', 'STARTTLS'],
      logger: false,
      disableReverseLookup: true,
      size: LIMITS.inboundMailBytesMax,
      maxClients: LIMITS.smtpConnectionsMax,
      socketTimeout: LIMITS.smtpIdleMs,
      closeTimeout: 1000,
      onConnect: (session, done) => done(this.#connected(session)),
      onClose: (session) => this.#left(session),
      onMailFrom: (_address, session, done) => {
        void Promise.resolve(limiters.memory.spend(RATE_LIMITS.supportInbound, networkOf(session.remoteAddress))).then(
          ({ accepted }) => done(accepted ? null : refusal(421, 'Too many mails from your network')),
          () => done(refusal(451, 'Try again later')),
        );
      },
      onRcptTo: ({ address }, session, done) => done(this.#recipientTrouble(address, session)),
      onData: (stream, session, done) => void this.#take(stream, session).then(done, () => done(refusal(451, 'Try again later'))),
    });
    server.on('error', (err) =>
      log.warn({ err }, 'the receiver of mail has a trouble with a connection, or cannot listen on SUPPORT_SMTP_PORT'),
    );
    server.listen(this.#port, this.#host);
    this.#server = server;
  }

  async close(): Promise<void> {
    this.#ending.abort(new Error('the service stops'));
    const server = this.#server;
    if (server !== undefined) await new Promise<void>((done) => server.close(() => done()));
  }

  /** One network does not take the connections of all. */
  #connected({ id, remoteAddress }: SMTPServerSession): Error | null {
    const network = networkOf(remoteAddress);
    const open = this.#connections.get(network) ?? new Set();
    if (open.size >= LIMITS.smtpConnectionsPerNetworkMax) return refusal(421, 'Too many connections from your network');
    this.#connections.set(network, open.add(id));
    return null;
  }

  /** The server also tells of the end of connections that it has refused. */
  #left({ id, remoteAddress }: SMTPServerSession): void {
    const network = networkOf(remoteAddress);
    const open = this.#connections.get(network);
    open?.delete(id);
    if (open?.size === 0) this.#connections.delete(network);
  }

  #recipientTrouble(address: string, session: SMTPServerSession): Error | null {
    const support = supportAddressOf(this.#deps.config);
    if (address.toLowerCase() !== support.toLowerCase() && tokenIn(support, address) === undefined) {
      return refusal(550, 'There is no such address here');
    }
    return session.envelope.rcptTo.length >= LIMITS.smtpRecipientsMax ? refusal(452, 'Too many recipients') : null;
  }

  /** What the sender is told; null for a mail that was taken, also where it makes nothing. */
  async #take(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<Error | null> {
    const chunks: Uint8Array[] = [];
    let heldBytes = 0;
    let trouble: Error | null = null;
    try {
      // The rest of a mail that is refused is read and forgotten, as the protocol wants it.
      for await (const chunk of stream as AsyncIterable<Uint8Array>) {
        trouble ??= this.#roomTrouble(heldBytes, chunk.length);
        if (trouble !== null) continue;
        heldBytes += chunk.length;
        this.#heldBytes += chunk.length;
        chunks.push(chunk);
      }
      if (stream.sizeExceeded) return TOO_LARGE();
      return trouble ?? (await this.#takeWhole(Buffer.concat(chunks), session));
    } finally {
      this.#heldBytes -= heldBytes;
    }
  }

  #roomTrouble(heldBytes: number, moreBytes: number): Error | null {
    if (heldBytes + moreBytes > LIMITS.inboundMailBytesMax) return TOO_LARGE();
    return this.#heldBytes + moreBytes > LIMITS.smtpHeldBytesMax ? refusal(452, 'Too many mails at once, try again later') : null;
  }

  async #takeWhole(bytes: Uint8Array, session: SMTPServerSession): Promise<Error | null> {
    const { clock, log } = this.#deps;
    const { mailFrom, rcptTo } = session.envelope;
    const envelope = { from: mailFrom === false ? '' : mailFrom.address, to: rcptTo.map(({ address }) => address) };
    try {
      await takeMail(this.#deps, { bytes, envelope, signal: this.#ending.signal, nowMs: clock.nowMs() });
      return null;
    } catch (err) {
      if (!isTransient(err)) return refusal(554, 'The mail cannot be read');
      log.warn({ err }, 'a mail could not be taken; its server tries again');
      return refusal(451, 'Try again later');
    }
  }
}

const TOO_LARGE = () => refusal(552, `A mail may have ${LIMITS.inboundMailBytesMax} bytes`);

function refusal(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}
