/** The identity providers of the settings. */
import { Failure } from '../../../../protocol/core/errors.ts';
import type { OidcSettings } from '../../../platform/oidc-settings.ts';
import { OidcClient, type OidcClientDeps } from './client.ts';

export class OidcProviders {
  readonly list: readonly OidcSettings[];
  readonly #clients: ReadonlyMap<string, OidcClient>;

  constructor(list: readonly OidcSettings[], deps: OidcClientDeps) {
    this.list = list;
    this.#clients = new Map(list.map((settings) => [settings.id, new OidcClient(settings, deps)]));
  }

  /** Throws PROVIDER_NOT_FOUND. */
  client(id: string): OidcClient {
    const client = this.#clients.get(id);
    if (client === undefined) throw new Failure('PROVIDER_NOT_FOUND');
    return client;
  }
}
