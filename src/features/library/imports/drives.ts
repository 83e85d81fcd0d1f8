/** The drives of this installation, and the access of people to them. */
import type { Clock } from '../../../../actors/runtime/ports.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ImportProvider } from '../../../../protocol/library/file-imports.ts';
import type { Egress } from '../../../egress/egress.ts';
import type { ImportSettings } from '../../../platform/import-settings.ts';
import { type Sealer, Unopenable } from '../../../storage/sealing/sealer.ts';
import type { Sql } from '../../../storage/sql.ts';
import { type Bearer, type CallsOptions, DriveCalls, DriveFailure, IMPATIENT } from './providers/calls.ts';
import { CloudDrive } from './providers/cloud-drive.ts';
import { DriveOAuth, type Tokens } from './providers/oauth.ts';
import { OfficeSuite } from './providers/office-suite.ts';
import type { DriveProvider } from './providers/provider.ts';
import { type ConnectionKey, readTokens, replaceTokens } from './rows.ts';
import { tokensPlace } from './rules.ts';

export interface DrivesDeps {
  readonly sql: Sql;
  readonly sealer: Sealer;
  readonly egress: Egress;
  readonly clock: Clock;
}

interface Drive {
  readonly provider: DriveProvider;
  readonly oauth: DriveOAuth;
}

/** A token that ends sooner is not used any more. */
const SOON_MS = 60_000;

export class Drives {
  readonly #deps: DrivesDeps;
  readonly #drives = new Map<ImportProvider, Drive>();

  constructor({ cloud_drive, office_suite }: ImportSettings, deps: DrivesDeps) {
    this.#deps = deps;
    const asking = { egress: deps.egress, nowMs: () => deps.clock.nowMs() };
    if (cloud_drive !== null)
      this.#drives.set('cloud_drive', { provider: new CloudDrive(cloud_drive.apiUrl), oauth: new DriveOAuth(cloud_drive, asking) });
    if (office_suite !== null)
      this.#drives.set('office_suite', { provider: new OfficeSuite(office_suite.apiUrl), oauth: new DriveOAuth(office_suite, asking) });
  }

  get ids(): readonly ImportProvider[] {
    return [...this.#drives.keys()];
  }

  /** Throws IMPORT_PROVIDER_NOT_FOUND. */
  drive(id: string): Drive {
    const drive = this.#drives.get(id as ImportProvider);
    if (drive === undefined) throw new Failure('IMPORT_PROVIDER_NOT_FOUND', { param: 'provider' });
    return drive;
  }

  /** Calls by the stored access of somebody. */
  calls(key: ConnectionKey, options: Partial<Omit<CallsOptions, 'share'>> = {}): DriveCalls {
    const bearer = new StoredAccess(this.#deps, this.drive(key.provider).oauth, key);
    return new DriveCalls(this.#deps, bearer, { patience: IMPATIENT, ...options, share: key.workspaceId });
  }

  /** Calls by tokens that are not stored yet. */
  callsWith(tokens: Tokens, share: string): DriveCalls {
    const bearer = { token: async () => tokens.access, refused: async () => undefined };
    return new DriveCalls(this.#deps, bearer, { share, patience: IMPATIENT });
  }
}

interface Held {
  readonly sealed: Buffer;
  readonly tokens: Tokens;
}

class StoredAccess implements Bearer {
  readonly #deps: DrivesDeps;
  readonly #oauth: DriveOAuth;
  readonly #key: ConnectionKey;
  #held: Held | undefined;
  #renewing: Promise<Held> | undefined;

  constructor(deps: DrivesDeps, oauth: DriveOAuth, key: ConnectionKey) {
    this.#deps = deps;
    this.#oauth = oauth;
    this.#key = key;
  }

  async token(): Promise<string> {
    this.#held ??= await this.#read();
    if (this.#held.tokens.accessEndsAtMs - SOON_MS <= this.#deps.clock.nowMs()) await this.#renew(this.#held);
    return this.#held.tokens.access;
  }

  async refused(token: string): Promise<void> {
    const held = this.#held;
    // Another call has renewed it meanwhile.
    if (held === undefined || held.tokens.access !== token) return;
    await this.#renew(held);
  }

  async #renew(from: Held): Promise<void> {
    this.#renewing ??= this.#refresh(from).finally(() => {
      this.#renewing = undefined;
    });
    this.#held = await this.#renewing;
  }

  async #refresh({ sealed, tokens }: Held): Promise<Held> {
    const { sql, sealer } = this.#deps;
    const renewed = await this.#oauth.refresh(tokens.refresh, this.#key.workspaceId).catch(async (error) => {
      if (!(error instanceof DriveFailure) || error.kind !== 'revoked') throw error;
      // Only where nobody has connected or renewed it meanwhile.
      if (await replaceTokens(sql, this.#key, sealed, null)) throw error;
      return null;
    });
    if (renewed === null) return this.#read();
    const next = sealer.seal(tokensPlace(this.#key), JSON.stringify(renewed));
    return (await replaceTokens(sql, this.#key, sealed, next)) ? { sealed: next, tokens: renewed } : this.#read();
  }

  /** Throws `DriveFailure` revoked. */
  async #read(): Promise<Held> {
    const sealed = await readTokens(this.#deps.sql, this.#key);
    if (sealed === null) throw new DriveFailure('revoked', 'The drive is not connected any more.');
    try {
      return { sealed, tokens: JSON.parse(this.#deps.sealer.open(tokensPlace(this.#key), sealed)) as Tokens };
    } catch (error) {
      if (error instanceof Unopenable) throw new DriveFailure('revoked', 'The stored access cannot be read any more.', { cause: error });
      throw error;
    }
  }
}
