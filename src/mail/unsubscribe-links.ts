/** Links by which a recipient says that they want no more mail of a page. They name artifact and address, are signed, and do not expire. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { type ArtifactId, idSchema } from '../../protocol/core/ids.ts';
import type { Config } from '../platform/config.ts';
import { SigningKey } from '../storage/signing-key.ts';
import type { Sql } from '../storage/sql.ts';

interface Unsubscribing {
  readonly artifactId: ArtifactId;
  readonly address: string;
}

const KEY_NAME = 'unsubscribe_key';

export class UnsubscribeLinks {
  readonly #key: SigningKey;
  readonly #config: Pick<Config, 'baseUrl'>;

  constructor({ sql, config }: { readonly sql: Sql; readonly config: Pick<Config, 'baseUrl'> }) {
    this.#key = new SigningKey(sql, KEY_NAME);
    this.#config = config;
  }

  async urlFor(artifactId: ArtifactId, address: string): Promise<string> {
    const named = Buffer.from(`${artifactId} ${address}`).toString('base64url');
    return `${this.#config.baseUrl}/unsubscribe/${named}.${(await this.#sign(named)).toString('base64url')}`;
  }

  /** Null for what this installation has not signed. */
  async read(token: string): Promise<Unsubscribing | null> {
    const [named = '', signature = ''] = token.split('.');
    const right = await this.#sign(named);
    const given = Buffer.from(signature, 'base64url');
    if (given.length !== right.length || !timingSafeEqual(given, right)) return null;
    const text = Buffer.from(named, 'base64url').toString();
    const artifactId = idSchema('artifact').safeParse(text.slice(0, text.indexOf(' ')));
    return artifactId.success ? { artifactId: artifactId.data, address: text.slice(text.indexOf(' ') + 1) } : null;
  }

  async #sign(named: string): Promise<Buffer> {
    return createHmac('sha256', await this.#key.bytes())
      .update(`unsubscribe ${named}`)
      .digest();
  }
}
