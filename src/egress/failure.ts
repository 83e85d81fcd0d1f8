/** Why a call to the outside did not get an answer. */
export type EgressReason =
  /** The address is none that can be called: another scheme, credentials in it, or too long. */
  | 'invalid'
  /** A host, an address or a port that the service does not connect to on behalf of others. */
  | 'blocked'
  | 'dns'
  | 'connect'
  | 'timeout'
  /** The answer, decoded, is larger than the caller takes. */
  | 'too_large'
  /** No HTTP, endless headers, a body that ends early, an unknown coding, too many redirects. */
  | 'bad_answer'
  /** Too much is under way at once, of this share or in all. */
  | 'busy';

/** `message` says what happened in words that the caller may show: it names no address that a host name stands for. */
export class EgressFailure extends Error {
  override readonly name = 'EgressFailure';
  readonly reason: EgressReason;

  constructor(reason: EgressReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
