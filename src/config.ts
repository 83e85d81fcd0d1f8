/** Every setting, parsed once. A wrong value stops the start with a message that names it. The README's table is checked against this by a test. */
import { z } from 'zod';

const flag = z.stringbool();
const port = z.coerce.number().int().min(0).max(65_535);

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
  DATABASE_POOL: z.coerce.number().int().min(2).max(100).default(8).describe('Connections to the database.'),
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
  SMTP_URL: z
    .url({ protocol: /^smtps?$/ })
    .optional()
    .describe('Server that sends mail, smtp://user:password@host:587. Without it mail is written to DATA_DIR/mail as .eml files.'),
  MAIL_FROM: z
    .string()
    .regex(/^[^\r\n]*[^\s<>@]+@[^\s<>@]+>?$/, 'must be an address, or a name with the address in angle brackets')
    .default('Easel <easel@localhost>')
    .describe('Sender of that mail.'),
  DEFAULT_TIER: z.enum(['free', 'pro', 'team']).default('free').describe('Tier of new accounts. `free` may not publish publicly.'),
  TRUST_PROXY: flag.default(false).describe('Take the caller’s address and protocol from X-Forwarded-For and X-Forwarded-Proto.'),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .describe('What is logged to standard error, as JSON lines.'),
  ACTOR_IDLE_S: z.coerce.number().min(1).default(60).describe('Seconds without a call after which an actor leaves memory.'),
  ACTOR_MEMORY_MB: z.coerce.number().int().min(16).default(512).describe('Budget for resident actor state; idle actors leave first.'),
  DRAIN_DEADLINE_S: z.coerce.number().min(1).max(300).default(10).describe('Seconds that a SIGTERM leaves for open work.'),
});

export type Settings = z.output<typeof settings>;

/** Settings with everything derived that depends on the port actually bound. */
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
  const parsed = settings.safeParse(given);
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`);
    throw new ConfigError(`These settings are wrong:\n${lines.join('\n')}`);
  }
  if (parsed.data.S3_ENDPOINT && !(parsed.data.S3_ACCESS_KEY && parsed.data.S3_SECRET_KEY)) {
    throw new ConfigError('These settings are wrong:\n  S3_ACCESS_KEY, S3_SECRET_KEY: needed with S3_ENDPOINT');
  }
  return parsed.data;
}

export function deriveConfig(parsed: Settings, boundPort: number): Config {
  return {
    ...parsed,
    PORT: boundPort,
    baseUrl: (parsed.BASE_URL ?? `http://localhost:${boundPort}`).replace(/\/$/, ''),
    contentHost: parsed.CONTENT_HOST ?? `localhost:${boundPort}`,
  };
}

/** Where the page of a slug is served, without a slash at the end. The content origin shares the API's scheme. */
export function pageUrl(config: Pick<Config, 'baseUrl' | 'contentHost'>, slug: string): string {
  return `${config.baseUrl.startsWith('https:') ? 'https' : 'http'}://${slug}.${config.contentHost}`;
}
