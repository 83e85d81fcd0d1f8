/** OAuth 2.0 with a provider of drives: code flow with PKCE, and refresh. All of it goes through the guarded egress. */
import * as oauth from 'oauth4webapi';
import type { Egress } from '../../../../egress/egress.ts';
import { EgressFailure } from '../../../../egress/failure.ts';
import type { ImportProviderSettings } from '../../../../platform/import-settings.ts';
import { DriveFailure, ofEgress } from './calls.ts';

const CALL_MS = 10_000;
const ANSWER_BYTES_MAX = 64 * 1024;
/** What an access token lives for where the provider does not say. */
const DEFAULT_LIFE_S = 600;

export interface Tokens {
  readonly access: string;
  /** Unix ms. */
  readonly accessEndsAtMs: number;
  readonly refresh: string;
}

export interface OAuthDeps {
  readonly egress: Pick<Egress, 'fetch'>;
  readonly nowMs: () => number;
}

export class DriveOAuth {
  readonly #deps: OAuthDeps;
  readonly #settings: ImportProviderSettings;
  readonly #server: oauth.AuthorizationServer;
  readonly #client: oauth.Client;
  readonly #authentication: oauth.ClientAuth;

  constructor(settings: ImportProviderSettings, deps: OAuthDeps) {
    this.#settings = settings;
    this.#deps = deps;
    this.#server = { issuer: new URL(settings.authorizeUrl).origin, token_endpoint: settings.tokenUrl };
    this.#client = { client_id: settings.clientId };
    this.#authentication = oauth.ClientSecretPost(settings.clientSecret);
  }

  /** Where to send the browser. */
  async authorizeUrl(
    spec: { readonly state: string; readonly codeVerifier: string; readonly redirectUri: string; readonly scope: string },
    also: Readonly<Record<string, string>>,
  ): Promise<string> {
    const url = new URL(this.#settings.authorizeUrl);
    const parameters = {
      client_id: this.#settings.clientId,
      redirect_uri: spec.redirectUri,
      response_type: 'code',
      scope: spec.scope,
      state: spec.state,
      code_challenge: await oauth.calculatePKCECodeChallenge(spec.codeVerifier),
      code_challenge_method: 'S256',
      ...also,
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return url.href;
  }

  /** Throws `DriveFailure` denied with what the provider says, or unavailable. */
  async redeem(
    answer: { readonly code: string; readonly state: string },
    codeVerifier: string,
    redirectUri: string,
    share: string,
  ): Promise<Tokens> {
    return this.#asking(async () => {
      const valid = oauth.validateAuthResponse(this.#server, this.#client, new URLSearchParams(answer), answer.state);
      const reply = await oauth.authorizationCodeGrantRequest(
        ...([this.#server, this.#client, this.#authentication, valid, redirectUri, codeVerifier, this.#options(share)] as const),
      );
      const found = await oauth.processAuthorizationCodeResponse(this.#server, this.#client, reply);
      if (found.refresh_token === undefined) throw new DriveFailure('denied', 'The provider does not allow access for longer than now.');
      return this.#tokensOf(found, found.refresh_token);
    });
  }

  /** Throws `DriveFailure` revoked where the access was withdrawn, or unavailable. */
  async refresh(refreshToken: string, share: string): Promise<Tokens> {
    return this.#asking(async () => {
      const reply = await oauth.refreshTokenGrantRequest(
        ...([this.#server, this.#client, this.#authentication, refreshToken, this.#options(share)] as const),
      );
      const found = await oauth.processRefreshTokenResponse(this.#server, this.#client, reply);
      // Some providers give another one each time, and the former one ends.
      return this.#tokensOf(found, found.refresh_token ?? refreshToken);
    });
  }

  #tokensOf({ access_token, expires_in }: oauth.TokenEndpointResponse, refresh: string): Tokens {
    return { access: access_token, accessEndsAtMs: this.#deps.nowMs() + (expires_in ?? DEFAULT_LIFE_S) * 1000, refresh };
  }

  async #asking(work: () => Promise<Tokens>): Promise<Tokens> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof DriveFailure) throw error;
      if (error instanceof EgressFailure) throw ofEgress(error);
      if (error instanceof oauth.ResponseBodyError) {
        if (error.error === 'invalid_grant') throw new DriveFailure('revoked', 'The provider does not accept the access any more.');
        throw new DriveFailure('denied', `The provider refuses: ${error.error}.`);
      }
      if (error instanceof oauth.OperationProcessingError || error instanceof oauth.AuthorizationResponseError)
        throw new DriveFailure('unavailable', 'The provider answers in a form that is not known.', { cause: error });
      throw error;
    }
  }

  #options(share: string) {
    return {
      // The settings allow plain HTTP on this machine only.
      [oauth.allowInsecureRequests]: this.#settings.tokenUrl.startsWith('http:'),
      [oauth.customFetch]: (url: string, init: oauth.CustomFetchOptions<'POST', URLSearchParams>) => this.#post(url, init, share),
    };
  }

  async #post(url: string, { headers, body }: oauth.CustomFetchOptions<'POST', URLSearchParams>, share: string): Promise<Response> {
    const sent = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
    const reply = await this.#deps.egress.fetch({
      method: 'POST',
      url,
      headers: Object.fromEntries(sent.filter(([name]) => name !== 'user-agent')),
      body: Buffer.from(body.toString()),
      ...{ bytesMax: ANSWER_BYTES_MAX, timeoutMs: CALL_MS, share },
    });
    return new Response(reply.body.toString('utf8'), { status: reply.status, headers: reply.headers });
  }
}
