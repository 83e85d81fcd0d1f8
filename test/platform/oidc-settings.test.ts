/** The settings of identity providers: what is wrong is named by its variable. */
import { expect, test } from 'vitest';
import { ConfigError, parseSettings } from '../../src/platform/config.ts';

const CORP = { OIDC_PROVIDERS: 'corp', OIDC_CORP_ISSUER: 'https://id.example.com', OIDC_CORP_CLIENT_ID: 'easel' };

test('providers come in the order of the list, with defaults', () => {
  const { oidc } = parseSettings({
    ...CORP,
    OIDC_PROVIDERS: 'google,corp',
    OIDC_GOOGLE_ISSUER: 'https://accounts.google.com',
    OIDC_GOOGLE_CLIENT_ID: 'g',
    OIDC_GOOGLE_CLIENT_SECRET: 's',
    OIDC_GOOGLE_NAME: 'Google',
    OIDC_GOOGLE_SCOPE: 'openid email',
  });
  expect(oidc).toEqual([
    { id: 'google', name: 'Google', issuer: 'https://accounts.google.com', clientId: 'g', clientSecret: 's', scope: 'openid email' },
    {
      id: 'corp',
      name: 'corp',
      issuer: 'https://id.example.com',
      clientId: 'easel',
      clientSecret: undefined,
      scope: 'openid email profile',
    },
  ]);
  expect(parseSettings({}).oidc).toEqual([]);
});

test.each([
  [{ ...CORP, OIDC_CORP_ISSUER: undefined }, 'OIDC_CORP_ISSUER'],
  [{ ...CORP, OIDC_CORP_CLIENT_ID: '' }, 'OIDC_CORP_CLIENT_ID'],
  [{ ...CORP, OIDC_CORP_ISSUER: 'http://id.example.com' }, 'OIDC_CORP_ISSUER: must use https'],
  [{ ...CORP, OIDC_CORP_ISSUER: 'http://localhost.evil.example' }, 'OIDC_CORP_ISSUER: must use https'],
  [{ ...CORP, OIDC_CORP_SCOPE: 'email' }, 'OIDC_CORP_SCOPE: must contain openid'],
  [{ ...CORP, OIDC_PROVIDERS: 'Corp' }, 'OIDC_PROVIDERS: must be ids'],
  [{ ...CORP, OIDC_PROVIDERS: 'corp,corp' }, 'OIDC_PROVIDERS: has corp twice'],
  [{ ...CORP, OIDC_PROVIDERS: 'email' }, 'OIDC_PROVIDERS: must not have the id email'],
])('%j is refused', (environment, text) => {
  expect(() => parseSettings(environment)).toThrow(ConfigError);
  expect(() => parseSettings(environment)).toThrow(text);
});

test('plain HTTP is for this machine only', () => {
  const [local] = parseSettings({ ...CORP, OIDC_CORP_ISSUER: 'http://127.0.0.1:8080/realm' }).oidc;
  expect(local?.issuer).toBe('http://127.0.0.1:8080/realm');
});
