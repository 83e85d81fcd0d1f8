/** The kinds of credentials: what each looks like, where it is stored, and how its last use is written. */
import type { Queries } from '../../deps.ts';
import {
  readAgentToken,
  readExternalToken,
  readGuestToken,
  readRunToken,
  readUserToken,
  type TokenUses,
  writeAgentTokenUses,
  writeExternalTokenUses,
  writeUserTokenUses,
} from './rows.ts';
import type { KnownToken } from './rules.ts';
import { tokenSha256 } from './secret.ts';

export interface CredentialKind {
  readonly name: 'personal' | 'agent' | 'guest' | 'session' | 'external' | 'run';
  readonly form: RegExp;
  /** Null where no credential has this digest. */
  read(sql: Queries, sha256: Buffer): Promise<KnownToken | null>;
  /** Absent where the time of last use is not kept. */
  writeUses?(sql: Queries, used: TokenUses): Promise<void>;
}

const PERSONAL: CredentialKind = { name: 'personal', form: /^so_[0-9a-f]{64}$/, read: readUserToken, writeUses: writeUserTokenUses };
const AGENT: CredentialKind = { name: 'agent', form: /^sot_[0-9a-f]{64}$/, read: readAgentToken, writeUses: writeAgentTokenUses };
/** Of somebody who has proved an e-mail address to comment on one artifact. */
const GUEST: CredentialKind = { name: 'guest', form: /^sog_[0-9a-f]{64}$/, read: readGuestToken };

/** Of somebody outside, for what one workspace shares with them. */
const EXTERNAL: CredentialKind = {
  name: 'external',
  form: /^sox_[0-9a-f]{64}$/,
  read: readExternalToken,
  writeUses: writeExternalTokenUses,
};

/** Of the run of a job, which nobody outside of the process sees. */
const RUN: CredentialKind = { name: 'run', form: /^sor_[0-9a-f]{64}$/, read: readRunToken };

/** Those that are sent as a bearer token. */
export const BEARERS: readonly CredentialKind[] = [PERSONAL, AGENT, GUEST, EXTERNAL, RUN];

/** The name that caches and `token.revoked` know a credential by. Each kind has a table of its own, so the name says which. */
export function credentialName(kind: CredentialKind['name'], sha256: Buffer): string {
  return `${kind}:${sha256.toString('hex')}`;
}

export function nameOfSecret(kind: CredentialKind['name'], secret: string): string {
  return credentialName(kind, tokenSha256(secret));
}
