/** Speaks to one identity provider: OpenID Connect with code flow, PKCE, state and nonce. */
import * as oauth from 'oauth4webapi';
import type { Clock, Log } from '../../../../actors/runtime/ports.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { OidcSettings } from '../../../platform/oidc-settings.ts';

/** For one call to the provider. */
const CALL_MS = 5000;
/** What a provider says of itself is read again after this time. The keys of its tokens are kept with it, and read again where one is unknown. */
const METADATA_MS = 3600_000;
/** Clocks of providers may differ by this much. */
const SKEW_S = 60;

/** What binds an answer to the browser that asked for it. */
export interface Secrets {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

export interface ProvedIdentity {
  readonly issuer: string;
  readonly subject: string;
  /** In lowercase; null where the provider names none. */
  readonly email: string | null;
  readonly isVerified: boolean;
  readonly name: string | null;
}

export interface OidcClientDeps {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: Pick<Log, 'warn'>;
}

export class OidcClient {
  readonly #settings: OidcSettings;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #log: Pick<Log, 'warn'>;
  readonly #client: oauth.Client;
  readonly #options: { readonly [oauth.allowInsecureRequests]: boolean; signal(): AbortSignal };
  #known: { readonly server: oauth.AuthorizationServer; readonly atMs: number } | undefined;
  #reading: Promise<oauth.AuthorizationServer> | undefined;

  constructor(settings: OidcSettings, { clock, log }: OidcClientDeps) {
    this.#settings = settings;
    this.#clock = clock;
    this.#log = log;
    this.#client = { client_id: settings.clientId, [oauth.clockTolerance]: SKEW_S };
    // The settings allow plain HTTP on this machine only.
    this.#options = { [oauth.allowInsecureRequests]: settings.issuer.startsWith('http:'), signal: () => AbortSignal.timeout(CALL_MS) };
  }

  /** Where to send the browser. Throws PROVIDER_UNAVAILABLE. */
  async authorizationUrl(secrets: Secrets, redirectUri: string, loginHint: string | undefined): Promise<string> {
    const server = await this.#server();
    const url = new URL(server.authorization_endpoint ?? '');
    const { state, nonce, codeVerifier } = secrets;
    const parameters = {
      client_id: this.#settings.clientId,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: this.#settings.scope,
      ...{ state, nonce, code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier), code_challenge_method: 'S256' },
      ...(loginHint !== undefined && { login_hint: loginHint }),
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return url.href;
  }

  /** Who the answer of the provider speaks of. Throws SIGN_IN_FAILED, PROVIDER_UNAVAILABLE. */
  async redeem(answer: URLSearchParams, secrets: Secrets, redirectUri: string): Promise<ProvedIdentity> {
    const server = await this.#server();
    try {
      // Before anything is sent: an answer of another provider gets no token request.
      const valid = oauth.validateAuthResponse(server, this.#client, answer, secrets.state);
      const authentication = clientAuthOf(server, this.#settings.clientSecret);
      const reply = await oauth.authorizationCodeGrantRequest(
        ...([server, this.#client, authentication, valid, redirectUri, secrets.codeVerifier, this.#options] as const),
      );
      const tokens = await oauth.processAuthorizationCodeResponse(server, this.#client, reply, {
        expectedNonce: secrets.nonce,
        requireIdToken: true,
      });
      await oauth.validateApplicationLevelSignature(server, reply, this.#options);
      const claims = oauth.getValidatedIdTokenClaims(tokens);
      if (claims === undefined) throw new Error('a token response without an ID token was accepted');
      const told = claims.email === undefined ? await this.#userInfo(server, tokens.access_token, claims.sub) : claims;
      return identityOf(server.issuer, claims.sub, told);
    } catch (error) {
      throw failureOf(error, this.#settings.name);
    }
  }

  /** Some providers put the address into this answer only. */
  async #userInfo(server: oauth.AuthorizationServer, accessToken: string, subject: string): Promise<Readonly<Record<string, unknown>>> {
    if (server.userinfo_endpoint === undefined) return {};
    const reply = await oauth.userInfoRequest(server, this.#client, accessToken, this.#options);
    return oauth.processUserInfoResponse(server, this.#client, subject, reply);
  }

  async #server(): Promise<oauth.AuthorizationServer> {
    const known = this.#known;
    if (known !== undefined && this.#clock.monotonicMs() - known.atMs < METADATA_MS) return known.server;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    try {
      return await this.#reading;
    } catch (err) {
      this.#log.warn({ err, provider: this.#settings.id }, 'an identity provider does not say how to sign in');
      // What it said before is most likely still true.
      if (known !== undefined) return known.server;
      throw unavailable(this.#settings.name);
    }
  }

  async #read(): Promise<oauth.AuthorizationServer> {
    const issuer = new URL(this.#settings.issuer);
    const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, this.#options));
    if (server.authorization_endpoint === undefined) throw new Error('the provider names no authorization endpoint');
    this.#known = { server, atMs: this.#clock.monotonicMs() };
    return server;
  }
}

function identityOf(issuer: string, subject: string, told: Readonly<Record<string, unknown>>): ProvedIdentity {
  const email = typeof told.email === 'string' && told.email !== '' ? told.email.toLowerCase() : null;
  // Some providers send the text.
  const isVerified = email !== null && (told.email_verified === true || told.email_verified === 'true');
  return { issuer, subject, email, isVerified, name: typeof told.name === 'string' ? told.name : null };
}

function clientAuthOf(server: oauth.AuthorizationServer, secret: string | undefined): oauth.ClientAuth {
  if (secret === undefined) return oauth.None();
  const methods = server.token_endpoint_auth_methods_supported;
  // RFC 8414: basic is what a server takes that says nothing.
  return methods === undefined || methods.includes('client_secret_basic')
    ? oauth.ClientSecretBasic(secret)
    : oauth.ClientSecretPost(secret);
}

function failureOf(error: unknown, name: string): unknown {
  if (error instanceof oauth.AuthorizationResponseError) {
    const refused = error.error === 'access_denied' ? 'The sign-in was cancelled there.' : `It answered ${error.error}.`;
    return new Failure('SIGN_IN_FAILED', { message: `${name} did not sign you in. ${refused}` });
  }
  if (error instanceof oauth.ResponseBodyError) {
    if (error.status >= 500) return unavailable(name);
    return new Failure('SIGN_IN_FAILED', { message: `${name} did not accept the sign-in: ${error.error}.` });
  }
  if (error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError) {
    return new Failure('SIGN_IN_FAILED', { message: `The answer of ${name} is not valid: ${error.message}.` });
  }
  // `fetch` fails with a TypeError where nobody answers, and with a DOMException at the deadline.
  if (error instanceof TypeError || error instanceof DOMException) return unavailable(name);
  return error;
}

function unavailable(name: string): Failure {
  return new Failure('PROVIDER_UNAVAILABLE', { message: `${name} does not answer.` });
}
