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
  /** What can be done about it; undefined where `message` says it all. */
  readonly hint: string | undefined;

  constructor(reason: EgressReason, message: string, options: ErrorOptions & { readonly hint?: string } = {}) {
    super(message, options);
    this.reason = reason;
    this.hint = options.hint;
  }

  /** `message` with the hint behind it, for whom there is one text. */
  get advice(): string {
    return this.hint === undefined ? this.message : `${this.message} ${this.hint}`;
  }
}

/** What an error of Node's client means. */
export function failureOf(error: Error & { readonly code?: string }, isConnected: boolean): EgressFailure {
  if (error instanceof EgressFailure) return error;
  const { code = '' } = error;
  if (code.startsWith('HPE_'))
    return new EgressFailure('bad_answer', 'The host does not answer in HTTP, or its headers have no end.', { cause: error });
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO/.test(code))
    return new EgressFailure('connect', 'The host has no valid certificate for its name.', { cause: error });
  if (isConnected) return new EgressFailure('bad_answer', 'The host ended the connection without an answer.', { cause: error });
  return new EgressFailure('connect', 'The host does not accept the connection.', { cause: error });
}

/** A host that is not public, which installations can open. */
export function blockedHost(): EgressFailure {
  const hint = 'Use a public host; whoever runs this installation can allow others with EGRESS_PRIVATE_NETWORKS.';
  return new EgressFailure('blocked', 'This host is not on the public internet.', { hint });
}

export function blockedPort(port: number): EgressFailure {
  const hint = 'Use another port; whoever runs this installation can allow this one with EGRESS_PORTS.';
  return new EgressFailure('blocked', `Port ${port} may not be called.`, { hint });
}
