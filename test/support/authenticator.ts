/** A passkey device in software: one ES256 key, and the answers that a browser would pass on. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

interface CreationOptions {
  readonly challenge: string;
  readonly rp: { readonly id: string };
}

const FLAGS = { present: 1, verified: 4, attested: 64 } as const;

export class Authenticator {
  readonly id = randomBytes(16);
  readonly #origin: string;
  readonly #key: KeyObject;
  readonly #publicKey: Buffer;
  #counter = 0;
  #rpId = '';

  constructor(origin: string) {
    this.#origin = origin;
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.#key = privateKey;
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
    // COSE: {1: 2 (EC2), 3: -7 (ES256), -1: 1 (P-256), -2: x, -3: y}
    this.#publicKey = Buffer.concat([
      Buffer.from('a5010203262001215820', 'hex'),
      Buffer.from(x, 'base64url'),
      Buffer.from('225820', 'hex'),
      Buffer.from(y, 'base64url'),
    ]);
  }

  /** The answer to the options of a new passkey. */
  create({ challenge, rp }: CreationOptions) {
    this.#rpId = rp.id;
    const length = Buffer.alloc(2);
    length.writeUInt16BE(this.id.length);
    const data = Buffer.concat([this.#head(FLAGS.attested), Buffer.alloc(16), length, this.id, this.#publicKey]);
    // CBOR: {fmt: "none", attStmt: {}, authData: bytes}
    const size = Buffer.alloc(2);
    size.writeUInt16BE(data.length);
    const attestation = Buffer.concat([Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746159', 'hex'), size, data]);
    const response = { clientDataJSON: this.#client('webauthn.create', challenge), attestationObject: attestation.toString('base64url') };
    return this.#credential({ ...response, transports: ['internal'] });
  }

  /** The answer to the options of a sign-in. */
  get({ challenge }: Pick<CreationOptions, 'challenge'>) {
    this.#counter += 1;
    const data = this.#head(0);
    const clientDataJSON = this.#client('webauthn.get', challenge);
    const signed = Buffer.concat([data, createHash('sha256').update(Buffer.from(clientDataJSON, 'base64url')).digest()]);
    const signature = sign('sha256', signed, this.#key).toString('base64url');
    return this.#credential({ clientDataJSON, authenticatorData: data.toString('base64url'), signature });
  }

  #credential(response: Readonly<Record<string, unknown>>) {
    const id = this.id.toString('base64url');
    return { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response };
  }

  #head(flags: number): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.#counter);
    return Buffer.concat([
      createHash('sha256').update(this.#rpId).digest(),
      Buffer.from([FLAGS.present | FLAGS.verified | flags]),
      counter,
    ]);
  }

  #client(type: string, challenge: string): string {
    return Buffer.from(JSON.stringify({ type, challenge, origin: this.#origin, crossOrigin: false })).toString('base64url');
  }
}
