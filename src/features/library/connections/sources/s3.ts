/** Reads objects of an S3-compatible store. The client only signs addresses; the calls go through the guarded egress like any other. */
import { Client } from 'minio';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import type { EgressReply } from '../../../../egress/egress.ts';
import type { Fetched } from './http.ts';
import type { SourceFormat } from './rows.ts';
import { type Credentials, type Reach, requireCredentials, SourceFailure, type Target } from './target.ts';

const SIGNED_S = 300;

interface S3Config {
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly prefix: string;
}

/** Throws EgressFailure, SourceFailure, and the reason of the signal. */
export async function testS3(reach: Reach, target: Target): Promise<string> {
  const { bucket, prefix } = configOf(target);
  const url = await addressOf(target, '', { 'list-type': '2', 'max-keys': '1', ...(prefix !== '' && { prefix }) });
  const reply = await get(reach, url, LIMITS.connectionTestBytesMax);
  if (reply.status === 200) return `The bucket "${bucket}" can be listed.`;
  throw refusalOf(reply, target, null);
}

/** Throws as `testS3` does. */
export async function fetchS3(reach: Reach, target: Target, key: string): Promise<Fetched> {
  const { prefix } = configOf(target);
  if (!key.startsWith(prefix)) throw new SourceFailure(`The key must begin with the prefix of the connection, "${prefix}".`);
  // An address with such a part means another object.
  if (key.split('/').some((part) => part === '.' || part === '..'))
    throw new SourceFailure('The key may not have the parts . and .. in it.');
  const reply = await get(reach, await addressOf(target, key, {}), LIMITS.connectionFetchBytesMax);
  if (reply.status !== 200) throw refusalOf(reply, target, key);
  return { bytes: reply.body, format: formatOf(key) };
}

function configOf({ config }: Target): S3Config {
  return config as unknown as S3Config;
}

function get({ egress, share, signal }: Reach, url: string, bytesMax: number): Promise<EgressReply> {
  return egress.fetch({ method: 'GET', url, bytesMax, timeoutMs: LIMITS.connectionFetchMs, redirectsMax: 0, share, signal });
}

async function addressOf(target: Target, key: string, params: Readonly<Record<string, string>>): Promise<string> {
  const { endpoint, bucket, region } = configOf(target);
  const credentials = requireCredentials(target);
  const url = new URL(endpoint);
  if (target.authType === 'none') {
    url.pathname = `${url.pathname.replace(/\/$/, '')}/${[bucket, ...key.split('/')].map(encodeURIComponent).join('/')}`;
    url.search = new URLSearchParams(params).toString();
    return url.href;
  }
  requireBucketName(bucket);
  const client = clientOf(url, region, credentials);
  try {
    return await client.presignedUrl('GET', bucket, key, SIGNED_S, { ...params });
  } catch (error) {
    throw new SourceFailure('The address of the object cannot be signed; look at its key.', { cause: error });
  }
}

/** Throws SourceFailure. */
function clientOf(url: URL, region: string, credentials: Credentials): Client {
  const useSSL = url.protocol === 'https:';
  try {
    return new Client({
      endPoint: url.hostname,
      port: url.port === '' ? (useSSL ? 443 : 80) : Number(url.port),
      useSSL,
      accessKey: credentials.access_key_id ?? '',
      secretKey: credentials.secret_access_key ?? '',
      ...(credentials.session_token !== undefined && { sessionToken: credentials.session_token }),
      // With a region it asks nobody for it.
      region,
    });
  } catch (error) {
    throw new SourceFailure('The endpoint is not valid: its host must be an IPv4 address, or a name without a hyphen at either end.', {
      cause: error,
    });
  }
}

/** As the client that signs wants it. Throws SourceFailure. */
function requireBucketName(bucket: string): void {
  if (/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket) && !bucket.includes('..') && !/\d+\.\d+\.\d+\.\d+/.test(bucket)) return;
  throw new SourceFailure(
    `The name of the bucket, "${bucket}", is not valid: it has 3 to 63 lowercase letters, digits, hyphens and single dots, begins and ends with a letter or digit, and is no IP address.`,
  );
}

const BY_CODE: Readonly<Record<string, string>> = {
  InvalidAccessKeyId: 'The host does not accept the credentials.',
  SignatureDoesNotMatch: 'The host does not accept the credentials.',
  InvalidToken: 'The host does not accept the credentials.',
  ExpiredToken: 'The credentials have expired.',
  AccessDenied: 'The credentials do not allow it.',
  PermanentRedirect: 'The bucket is in another region.',
  AuthorizationHeaderMalformed: 'The bucket is in another region.',
  AuthorizationQueryParametersError: 'The bucket is in another region.',
  RequestTimeTooSkewed: "The host's clock and ours differ too much.",
};

function refusalOf({ status, body }: EgressReply, target: Target, key: string | null): SourceFailure {
  const code = /<Code>(\w{1,60})<\/Code>/.exec(body.toString('utf8'))?.[1] ?? '';
  if (code === 'NoSuchBucket') return new SourceFailure(`There is no bucket "${configOf(target).bucket}".`);
  if (code === 'NoSuchKey' && key !== null) return new SourceFailure(`There is no object "${key}".`, { isFinal: false });
  const said = BY_CODE[code] ?? (status === 401 || status === 403 ? 'The host does not accept the credentials.' : null);
  return new SourceFailure(said ?? `The host answered ${status}${code === '' ? '' : ` (${code})`}.`, { isFinal: status < 500 });
}

function formatOf(key: string): SourceFormat {
  if (/\.csv$/i.test(key)) return 'csv';
  return /\.(?:ndjson|jsonl)$/i.test(key) ? 'ndjson' : 'json';
}
