import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigError, deriveConfig, pageUrl, parseSettings, settings } from '../../src/platform/config.ts';

/** Rows between the README's markers: name, default, description. */
function documentedSettings(): readonly (readonly string[])[] {
  const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');
  const table = /<!-- settings -->\n([\s\S]*?)<!-- \/settings -->/.exec(readme)?.[1] ?? '';
  const [header, , ...rows] = table.trim().split('\n');
  expect(header).toBe('| Setting | Default | What it does |');
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
}

describe('settings', () => {
  it('are all in the README, with their defaults and what they do', () => {
    const defaults: Record<string, unknown> = settings.parse({});
    const declared = Object.entries(settings.shape).map(([name, schema]) => [
      name,
      defaults[name] === undefined ? '' : String(defaults[name]),
      (schema.description ?? '').replaceAll('`', ''),
    ]);
    expect(documentedSettings()).toEqual(declared);
  });

  it('take an empty variable as one that is not set', () => {
    expect(parseSettings({ PORT: '', DATABASE_URL: '', UNRELATED: 'x' })).toEqual(parseSettings({}));
  });

  it.each([
    ['PORT', '65536'],
    ['PORT', '80a'],
    ['BASE_URL', 'ftp://example.org'],
    ['CONTENT_HOST', 'https://pages.example.org'],
    ['DATABASE_URL', 'mysql://localhost/x'],
    ['DATABASE_POOL', '0'],
    ['DEFAULT_TIER', 'gold'],
    ['TRUST_PROXY', 'perhaps'],
    ['DRAIN_DEADLINE_S', '0'],
    ['ACTOR_MEMORY_MB', '1.5'],
  ])('refuse %s=%s by name', (name, value) => {
    expect(() => parseSettings({ [name]: value })).toThrow(ConfigError);
    expect(() => parseSettings({ [name]: value })).toThrow(new RegExp(`^ {2}${name}: `, 'm'));
  });

  it('need both keys of an object store', () => {
    expect(() => parseSettings({ S3_ENDPOINT: 'https://s3.example.org', S3_ACCESS_KEY: 'a' })).toThrow(/S3_SECRET_KEY/);
  });

  it.each([
    [{ DATABASE_URL: '' }, /REDIS_URL: needs DATABASE_URL/],
    [{ CLUSTER_SECRET: '' }, /CLUSTER_SECRET: needed with REDIS_URL/],
    [{ CLUSTER_SECRET: 'too short' }, /CLUSTER_SECRET: /],
    [{ PEER_ADDRESS: '' }, /PEER_ADDRESS: needed with REDIS_URL/],
    [{ OBJECTS_DIR: '' }, /REDIS_URL: needs S3_ENDPOINT, .* or in OBJECTS_DIR a folder that all nodes share/],
    [{ S3_ENDPOINT: 'http://s3', S3_ACCESS_KEY: 'a', S3_SECRET_KEY: 'b' }, /S3_ENDPOINT, OBJECTS_DIR: files are kept in one of them/],
    [{ PEER_ADDRESS: 'node-1' }, /PEER_ADDRESS: must be host:port/],
    [{ PEER_ADDRESS: 'node-1:0' }, /PEER_ADDRESS: must be host:port/],
    [{ PEER_TLS_CERT: 'cert.pem' }, /PEER_TLS_CERT, PEER_TLS_KEY, PEER_TLS_CA: needed together/],
    [{ REDIS_URL: 'http://localhost' }, /REDIS_URL: /],
  ])('of a cluster belong together: %j', (change, message) => {
    const cluster = {
      REDIS_URL: 'redis://127.0.0.1:6379/1',
      OBJECTS_DIR: '/mnt/easel',
      DATABASE_URL: 'postgres://root@127.0.0.1/easel',
      CLUSTER_SECRET: 'a'.repeat(32),
      PEER_ADDRESS: '10.0.0.1:7000',
    };
    expect(parseSettings(cluster)).toMatchObject(cluster);
    expect(() => parseSettings({ ...cluster, ...change })).toThrow(message);
  });

  it('leave somebody a way to sign in', () => {
    expect(() => parseSettings({ SIGN_IN_WAYS: 'none' })).toThrow(/SIGN_IN_WAYS: none needs OIDC_PROVIDERS/);
    expect(() => parseSettings({ SIGN_IN_WAYS: 'passwords' })).toThrow(/SIGN_IN_WAYS/);
    const oidc = {
      OIDC_PROVIDERS: 'corp',
      OIDC_CORP_ISSUER: 'https://id.example.org',
      OIDC_CORP_CLIENT_ID: 'a',
      OIDC_CORP_CLIENT_SECRET: 'b',
    };
    expect(parseSettings({ SIGN_IN_WAYS: 'none', ...oidc }).SIGN_IN_WAYS).toBe('none');
  });

  it('derive the addresses from the bound port, unless they are given', () => {
    const local = deriveConfig(parseSettings({ PORT: '0' }), 4321);
    expect(local).toMatchObject({ PORT: 4321, baseUrl: 'http://localhost:4321', contentHost: 'localhost:4321' });
    const given = deriveConfig(parseSettings({ BASE_URL: 'https://easel.example.org/', CONTENT_HOST: 'pages.example.org' }), 4321);
    expect(given.baseUrl).toBe('https://easel.example.org');
    expect(pageUrl(given, 'demo')).toBe('https://demo.pages.example.org');
  });
});
