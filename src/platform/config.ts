/** Every setting, parsed once. A wrong value stops the start with a message that names it. A test compares the README's table with this file. */
import { z } from 'zod';
import type { Issue } from '../../protocol/core/errors.ts';
import { readInput } from '../../protocol/core/issues.ts';
import { maySelfUpgrade, readBillingSettings, type StripeSettings } from './billing-settings.ts';
import { type ImportSettings, readImportSettings } from './import-settings.ts';
import { readNetworks } from './networks.ts';
import { isLoopback, type OidcSettings, readProviders } from './oidc-settings.ts';
import { readSecretKeys } from './secret-key.ts';

const flag = z.stringbool();
const port = z.coerce.number().int().min(0).max(65_535);

/** Tokens travel to it: plain HTTP on this machine only. */
function importUrl(address: string) {
  return z
    .url({ protocol: /^https?$/ })
    .refine((url) => url.startsWith('https:') || isLoopback(url), 'must use https')
    .default(address);
}

export const settings = z.object({
  PORT: port.default(8787).describe('Port to listen on; 0 picks a free one.'),
  HOST: z.string().default('127.0.0.1').describe('Address to listen on; 0.0.0.0 for every interface.'),
  BASE_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('Address of the API as users see it. Default: http://localhost:PORT.'),
  CONTENT_HOST: z
    .string()
    .regex(/^[a-z0-9.-]+(:\d+)?$/)
    .optional()
    .describe('Published pages live at {slug}.CONTENT_HOST. Default: localhost:PORT.'),
  DATA_DIR: z.string().min(1).default('./data').describe('Where the embedded database and files are kept.'),
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/ })
    .optional()
    .describe('A PostgreSQL 15+ server instead of the embedded database.'),
  DATABASE_POOL: z.coerce
    .number()
    .int()
    .min(2)
    .max(100)
    .default(8)
    .describe('Connections to the database, beside a few for commits, searches and large reads.'),
  REDIS_URL: z
    .url({ protocol: /^rediss?$/ })
    .optional()
    .describe(
      'A Redis 6.2+ that several nodes share: redis://user:password@host:6379/0, or rediss:// for TLS. Needs DATABASE_URL, CLUSTER_SECRET and PEER_ADDRESS. Its `maxmemory-policy` must be `noeviction`.',
    ),
  CLUSTER_SECRET: z
    .string()
    .min(32)
    .optional()
    .describe(
      'The same on all nodes of an installation and nowhere else, at least 32 characters (`openssl rand -base64 32`): nodes prove by it that they belong together, and it tells installations on one Redis apart. Needed with REDIS_URL.',
    ),
  PEER_ADDRESS: z
    .string()
    .refine((text) => peerEndpoint(text) !== undefined, 'must be host:port, with an IPv6 address in brackets')
    .optional()
    .describe('host:port on which this node listens for the other nodes and is reached by them. Needed with REDIS_URL.'),
  PEER_TLS_CERT: z
    .string()
    .min(1)
    .optional()
    .describe('File with the certificate (PEM) that this node shows to the others. With it nodes speak TLS to each other.'),
  PEER_TLS_KEY: z.string().min(1).optional().describe('File with its private key (PEM).'),
  PEER_TLS_CA: z.string().min(1).optional().describe('File with the certificates (PEM) that sign those of the nodes.'),
  S3_ENDPOINT: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('An S3-compatible store for files instead of DATA_DIR.'),
  S3_PUBLIC_ENDPOINT: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('Address of that store for callers, who upload to it themselves. Default: S3_ENDPOINT.'),
  S3_BUCKET: z.string().min(3).max(63).default('easel').describe('Its bucket; made at start when missing.'),
  S3_ACCESS_KEY: z.string().optional().describe('Its access key.'),
  S3_SECRET_KEY: z.string().optional().describe('Its secret key.'),
  S3_REGION: z.string().default('us-east-1').describe('Its region.'),
  OBJECTS_DIR: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Folder for files instead of DATA_DIR/objects. With REDIS_URL and without S3_ENDPOINT it is needed, and must be one folder that all nodes mount (a network file system whose renames are atomic).',
    ),
  OBJECT_CACHE_MB: z.coerce
    .number()
    .int()
    .min(0)
    .max(1_000_000)
    .default(1024)
    .describe('Megabytes of copies of files from S3_ENDPOINT that this node keeps in DATA_DIR/cache; 0 for none.'),
  SECRET_KEY: z
    .string()
    .refine((text) => readSecretKeys(text) !== undefined, 'must be 32 bytes in base64 or hex, or several such keys separated by commas')
    .optional()
    .describe(
      'Key that stored credentials are sealed with: 32 bytes in base64 or hex (`openssl rand -base64 32`). After a comma, older keys that are still read. Needed with DATABASE_URL to store credentials; default otherwise: a key made in DATA_DIR/secret.key.',
    ),
  SMTP_URL: z
    .url({ protocol: /^smtps?$/ })
    .optional()
    .describe(
      'Server that sends mail, smtp://user:password@host:587. Without it mail is written to DATA_DIR/mail as .eml files, and shown at /dev/mail.',
    ),
  MAIL_FROM: z
    .string()
    .regex(/^[^\r\n]*[^\s<>@]+@[^\s<>@]+>?$/, 'must be an address, or a name with the address in angle brackets')
    .default('Easel <easel@localhost>')
    .describe('Sender of that mail.'),
  SUPPORT_ADDRESS: z
    .string()
    .regex(/^[^\s<>@+]+@[^\s<>@]+$/, 'must be an address without a plus sign, such as support@example.com')
    .optional()
    .describe(
      'Address that people write to for support, whose mail comes to `POST /v1/support/inbound/email` or to SUPPORT_SMTP_PORT, with everything behind a plus sign in it. Default: that of MAIL_FROM.',
    ),
  SUPPORT_INBOUND_SECRET: z
    .string()
    .min(32)
    .optional()
    .describe('Secret with which a mail or chat server signs what it brings to `/v1/support/inbound`. Without it nothing is taken there.'),
  SUPPORT_SMTP_PORT: z.coerce
    .number()
    .int()
    .min(1)
    .max(65_535)
    .optional()
    .describe('Port on which mail to SUPPORT_ADDRESS is received by SMTP. Without it none is.'),
  SUPPORT_SMTP_HOST: z.string().min(1).default('127.0.0.1').describe('Address that this port listens on; `::` for all.'),
  LOG_LINK_TEMPLATE: z
    .url({ protocol: /^https?$/ })
    .refine((text) => text.includes('{request_id}'), 'must have {request_id} in it')
    .optional()
    .describe('Address of a log by request, such as `https://logs.example.com/?q={request_id}`: tickets link there.'),
  DEFAULT_TIER: z.enum(['free', 'pro', 'team']).default('free').describe('Tier of new accounts. `free` may not publish publicly.'),
  OIDC_PROVIDERS: z
    .string()
    .regex(/^(?:[a-z][a-z0-9]{0,30})(?:,[a-z][a-z0-9]{0,30})*$/, 'must be ids of lowercase letters and digits, separated by commas')
    .optional()
    .describe(
      'Identity providers to sign in with, by ids of your choice, such as `google,corp`. Each has settings of its own: `OIDC_CORP_ISSUER`, `OIDC_CORP_CLIENT_ID`, `OIDC_CORP_CLIENT_SECRET` and optionally `OIDC_CORP_NAME` (on the button) and `OIDC_CORP_SCOPE` (default `openid email profile`). At the provider, register BASE_URL`/v1/auth/oidc/corp/callback`.',
    ),
  SIGN_IN_WAYS: z
    .enum(['password,email_code', 'password', 'email_code', 'none'])
    .default('password,email_code')
    .describe('How people sign in besides OIDC_PROVIDERS and passkeys: `password`, `email_code`, both with a comma, or `none`.'),
  THUMBNAILS: z
    .enum(['auto', 'on', 'off'])
    .default('auto')
    .describe(
      'Whether the web app shows pictures of pages, which a headless Chromium makes. `auto`: where there is a Chromium and it can use its own sandbox, so not as root. `on`: as root too, without that sandbox.',
    ),
  CHROMIUM_PATH: z.string().min(1).optional().describe('The Chromium for THUMBNAILS. Default: the first that PATH has.'),
  EGRESS_PORTS: z
    .string()
    .regex(/^(?:any|\d{1,5}(?:,\d{1,5})*)$/, 'must be numbers of ports, separated by commas, or any')
    .default('80,443')
    .describe(
      'Ports of other hosts that pages and people may have the service call, separated by commas, or `any`. Connections to Postgres may use 5432 too.',
    ),
  EGRESS_PRIVATE_NETWORKS: z
    .string()
    .refine((text) => readNetworks(text) !== undefined, 'must be addresses or networks such as 10.1.0.0/16, separated by commas')
    .optional()
    .describe(
      'Addresses and networks that pages and people may have the service call although they are not on the public internet, such as `10.1.0.0/16,fd00::/8`.',
    ),
  EGRESS_CA_FILE: z
    .string()
    .min(1)
    .optional()
    .describe('File with certificates (PEM) of authorities that are trusted in those calls beside the public ones.'),
  IMPORT_CLOUD_DRIVE_CLIENT_ID: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Client of this installation at Google, whose drives files can then be imported from. There, register BASE_URL`/v1/file-imports/callback/cloud_drive`.',
    ),
  IMPORT_CLOUD_DRIVE_CLIENT_SECRET: z.string().min(1).optional().describe('Its secret.'),
  IMPORT_CLOUD_DRIVE_API_URL: importUrl('https://www.googleapis.com').describe('Another address of its API, without `/drive/v3`.'),
  IMPORT_CLOUD_DRIVE_AUTHORIZE_URL: importUrl('https://accounts.google.com/o/oauth2/v2/auth').describe('Where it asks people.'),
  IMPORT_CLOUD_DRIVE_TOKEN_URL: importUrl('https://oauth2.googleapis.com/token').describe('Where it gives tokens.'),
  IMPORT_OFFICE_SUITE_CLIENT_ID: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Client of this installation at Microsoft, for files of OneDrive and SharePoint. There, register BASE_URL`/v1/file-imports/callback/office_suite`.',
    ),
  IMPORT_OFFICE_SUITE_CLIENT_SECRET: z.string().min(1).optional().describe('Its secret.'),
  IMPORT_OFFICE_SUITE_API_URL: importUrl('https://graph.microsoft.com').describe('Another address of its API, without `/v1.0`.'),
  IMPORT_OFFICE_SUITE_AUTHORIZE_URL: importUrl('https://login.microsoftonline.com/common/oauth2/v2.0/authorize').describe(
    'Where it asks people; instead of `common` the id of an organisation.',
  ),
  IMPORT_OFFICE_SUITE_TOKEN_URL: importUrl('https://login.microsoftonline.com/common/oauth2/v2.0/token').describe('Where it gives tokens.'),
  ASK_BASE_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'A model that writes answers to questions from the pages that were found: the address of an OpenAI-compatible API, such as `https://api.example.com/v1`. The passages are sent there. Without it answers are passages as they are.',
    ),
  ASK_MODEL: z.string().min(1).optional().describe('Name of that model. Needed with ASK_BASE_URL.'),
  ASK_API_KEY: z.string().min(1).optional().describe('Key that is sent to it as a bearer token.'),
  STRIPE_SECRET_KEY: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Secret key of an account at Stripe, which takes the payments then. There, make a price with the lookup key of each plan (`pro_monthly`, `pro_yearly`, `team_monthly`, `team_yearly`). Without it an embedded provider takes test cards and no money. Subscriptions of the provider of before run to the end of their period, as it was seen last.',
    ),
  STRIPE_WEBHOOK_SECRET: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Secret of its webhook endpoint; there, register BASE_URL`/v1/billing/webhooks/stripe` for all events. Needed with STRIPE_SECRET_KEY.',
    ),
  STRIPE_API_URL: importUrl('https://api.stripe.com').describe('Another address of its API.'),
  ALLOW_SELF_UPGRADE: z
    .enum(['auto', 'on', 'off'])
    .default('auto')
    .describe(
      'Whether accounts may choose their tier without paying (POST /v1/account/upgrade). `auto`: for development, where BASE_URL is on this machine and NODE_ENV is not `production`.',
    ),
  NODE_ENV: z.string().optional().describe('`production` turns off what is for development only: ALLOW_SELF_UPGRADE.'),
  TRUST_PROXY: flag.default(false).describe('Take the caller’s address and protocol from X-Forwarded-For and X-Forwarded-Proto.'),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .describe('What is logged to standard error, as JSON lines.'),
  ACTOR_IDLE_S: z.coerce.number().min(1).default(60).describe('Seconds without a call after which an actor leaves memory.'),
  ACTOR_MEMORY_MB: z.coerce.number().int().min(16).default(512).describe('Budget for resident actor state; idle actors leave first.'),
  DRAIN_DEADLINE_S: z.coerce.number().min(1).max(300).default(10).describe('Seconds that a SIGTERM leaves for open work.'),
});

export interface Settings extends z.output<typeof settings> {
  /** In the order of OIDC_PROVIDERS. */
  readonly oidc: readonly OidcSettings[];
  readonly imports: ImportSettings;
  /** Null for the embedded payment provider. */
  readonly billing: StripeSettings | null;
  readonly maySelfUpgrade: boolean;
}

/** The settings, with those filled in that depend on the bound port. */
export interface Config extends Settings {
  readonly baseUrl: string;
  readonly contentHost: string;
}

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Parses an environment. Throws `ConfigError` that names every wrong setting. Unset and empty are the same. */
export function parseSettings(environment: Readonly<Record<string, string | undefined>>): Settings {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''));
  const { value: parsed, issues } = readInput(settings, given);
  if (issues !== undefined) throw wrong(issues);
  const oidc = readProviders(parsed.OIDC_PROVIDERS, given);
  if (oidc.issues.length > 0) throw wrong(oidc.issues);
  const { imports, issues: ofImports } = readImportSettings(parsed);
  if (ofImports.length > 0) throw wrong(ofImports);
  const { billing, issues: ofBilling } = readBillingSettings(parsed);
  if (ofBilling.length > 0) throw wrong(ofBilling);
  if (parsed.S3_ENDPOINT && !(parsed.S3_ACCESS_KEY && parsed.S3_SECRET_KEY)) {
    throw new ConfigError('These settings are wrong:\n  S3_ACCESS_KEY, S3_SECRET_KEY: needed with S3_ENDPOINT');
  }
  if (parsed.S3_ENDPOINT && parsed.OBJECTS_DIR) {
    throw new ConfigError('These settings are wrong:\n  S3_ENDPOINT, OBJECTS_DIR: files are kept in one of them. Leave one out');
  }
  if (parsed.ASK_BASE_URL && !parsed.ASK_MODEL) throw new ConfigError('These settings are wrong:\n  ASK_MODEL: needed with ASK_BASE_URL');
  const cluster = clusterTrouble(parsed);
  if (cluster !== undefined) throw new ConfigError(`These settings are wrong:\n  ${cluster}`);
  if (parsed.SIGN_IN_WAYS === 'none' && oidc.providers.length === 0) {
    throw new ConfigError('These settings are wrong:\n  SIGN_IN_WAYS: none needs OIDC_PROVIDERS, or nobody could sign in');
  }
  return { ...parsed, oidc: oidc.providers, imports, billing, maySelfUpgrade: maySelfUpgrade(parsed, isLoopback) };
}

/** What keeps the settings of a cluster from working together. */
function clusterTrouble(parsed: z.output<typeof settings>): string | undefined {
  const tls = [parsed.PEER_TLS_CERT, parsed.PEER_TLS_KEY, parsed.PEER_TLS_CA];
  if (tls.some((file) => file !== undefined) && tls.includes(undefined))
    return 'PEER_TLS_CERT, PEER_TLS_KEY, PEER_TLS_CA: needed together, or none of them';
  if (parsed.REDIS_URL === undefined) return undefined;
  if (parsed.DATABASE_URL === undefined)
    return 'REDIS_URL: needs DATABASE_URL, because the embedded database belongs to one process. Name a PostgreSQL server, or leave REDIS_URL out';
  if (parsed.CLUSTER_SECRET === undefined) return 'CLUSTER_SECRET: needed with REDIS_URL';
  if (parsed.PEER_ADDRESS === undefined) return 'PEER_ADDRESS: needed with REDIS_URL';
  if (parsed.S3_ENDPOINT === undefined && parsed.OBJECTS_DIR === undefined)
    return 'REDIS_URL: needs S3_ENDPOINT, because files in the folder of one node are missing on the others. Name a store, or in OBJECTS_DIR a folder that all nodes share';
  return undefined;
}

/** Parts of `host:port`; an IPv6 address comes without its brackets. Undefined when it is not one, or the port is 0. */
export function peerEndpoint(text: string): { readonly host: string; readonly port: number } | undefined {
  const [, v6, name, digits] = /^(?:\[([0-9a-fA-F:.]+)\]|([a-zA-Z0-9._-]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = v6 ?? name;
  const number = Number(digits);
  return host === undefined || number < 1 || number > 65_535 ? undefined : { host, port: number };
}

function wrong(issues: readonly Issue[]): ConfigError {
  const lines = issues.map(({ path, message }) => `  ${path}: ${message}`);
  return new ConfigError(`These settings are wrong:\n${lines.join('\n')}`);
}

export function deriveConfig(parsed: Settings, boundPort: number): Config {
  return {
    ...parsed,
    PORT: boundPort,
    baseUrl: (parsed.BASE_URL ?? `http://localhost:${boundPort}`).replace(/\/$/, ''),
    contentHost: parsed.CONTENT_HOST ?? `localhost:${boundPort}`,
  };
}

/** The URL of a slug's page, without a trailing slash. Pages use the API's scheme. */
export function pageUrl(config: Pick<Config, 'baseUrl' | 'contentHost'>, slug: string): string {
  return `${config.baseUrl.startsWith('https:') ? 'https' : 'http'}://${slug}.${config.contentHost}`;
}
