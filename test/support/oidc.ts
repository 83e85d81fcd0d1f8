/** A real OpenID provider in this process, with people of the test's choice and a form to sign in. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

export interface Person {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
}

export interface TestProvider {
  readonly issuer: string;
  /** Settings of an Easel that signs in here, under this id. */
  settings(id: string): Record<string, string>;
  /** Told when the service's address is known: where the provider may send browsers back to. */
  allow(id: string, baseUrl: string): void;
  /** Paths of the calls that the provider has got. */
  readonly calls: string[];
  close(): Promise<void>;
}

const SECRET = 'a secret of the suite, long enough for every algorithm';

/** `people`: by the login that is typed into the form; they may change during a test. */
export async function startProvider(people: Map<string, Person>): Promise<TestProvider> {
  const calls: string[] = [];
  const redirectUris: string[] = [];
  let provider: Provider | undefined;
  const server = createServer((request, response) => {
    calls.push(request.url?.split('?')[0] ?? '');
    if (provider === undefined) throw new Error('the provider is not there yet');
    const interaction = /^\/interaction\/[^/?]+/.exec(request.url ?? '');
    if (interaction === null) void provider.callback()(request, response);
    else void interact(provider, people, request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const quiet = console.warn;
  // It advises on settings that only matter in production.
  console.warn = () => undefined;
  try {
    provider = new Provider(issuer, {
      clients: [{ client_id: 'easel', client_secret: SECRET, redirect_uris: [`${issuer}/unused`], grant_types: ['authorization_code'] }],
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
      // The claims come with the ID token of some providers, and with the user info of others, as here.
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
      pkce: { required: () => true },
      cookies: { keys: [SECRET] },
      findAccount: (_ctx, sub) => {
        const person = [...people.values()].find((one) => one.sub === sub);
        return person === undefined ? undefined : { accountId: sub, claims: () => ({ ...person }) };
      },
      loadExistingGrant: async (ctx) => {
        const { provider: own, client, session } = ctx.oidc;
        const grant = new own.Grant({ clientId: client?.clientId ?? '', accountId: session?.accountId ?? '' });
        grant.addOIDCScope('openid email profile');
        await grant.save();
        return grant;
      },
    });
  } finally {
    console.warn = quiet;
  }
  const client = await provider.Client.find('easel');
  if (client === undefined) throw new Error('the provider does not know its client');
  return {
    issuer,
    calls,
    settings: (id) => {
      const prefix = `OIDC_${id.toUpperCase()}`;
      return {
        OIDC_PROVIDERS: id,
        [`${prefix}_ISSUER`]: issuer,
        [`${prefix}_CLIENT_ID`]: 'easel',
        [`${prefix}_CLIENT_SECRET`]: SECRET,
        [`${prefix}_NAME`]: 'Example Corp',
      };
    },
    allow: (id, baseUrl) => {
      redirectUris.push(`${baseUrl}/v1/auth/oidc/${id}/callback`);
      Object.assign(client, { redirectUris });
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Shows the form, and answers it. `login_hint` is filled in. */
async function interact(
  provider: Provider,
  people: Map<string, Person>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { params } = await provider.interactionDetails(request, response);
  if (request.method === 'GET') {
    const hint = String(params.login_hint ?? '').replace(/["<>&]/g, '');
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    response.end(`<!doctype html><title>Example Corp</title><form method="post">
<label>Login <input name="login" value="${hint}" autofocus></label>
<button name="answer" value="yes">Sign in</button><button name="answer" value="no">Cancel</button></form>`);
    return;
  }
  let text = '';
  for await (const chunk of request) text += String(chunk);
  const form = new URLSearchParams(text);
  const person = people.get(form.get('login') ?? '');
  const result =
    form.get('answer') === 'no' || person === undefined
      ? { error: 'access_denied', error_description: 'cancelled' }
      : { login: { accountId: person.sub } };
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
}
