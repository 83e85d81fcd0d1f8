/** Turns start failures with an external cause into one sentence that names the setting. Any other error is a bug and keeps its stack. */

import { join, resolve } from 'node:path';
import type { Settings } from '../platform/config.ts';
import { DataDirInUse } from './data-dir-lock.ts';
import { EmbeddedDatabaseFailed } from './embedded.ts';
import { SchemaError } from './migrations.ts';

/** A setting is well formed, but what it names cannot be used. The message is all that the user needs. */
export class SettingUnusable extends Error {
  override readonly name = 'SettingUnusable';
}

/** Does the work and puts its failure into words. */
export async function inWords<T>(work: Promise<T>, words: (error: unknown) => string | undefined): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof SettingUnusable || error instanceof DataDirInUse || error instanceof SchemaError) throw error;
    const sentence = words(error);
    throw sentence === undefined ? error : new SettingUnusable(sentence, { cause: error });
  }
}

const FILE_TROUBLE: Readonly<Record<string, string>> = {
  ENOTDIR: 'is not a folder, or lies below a file. Name a folder',
  EEXIST: 'is not a folder, or lies below a file. Name a folder',
  EISDIR: 'is a folder where a file should be. Name another folder',
  EACCES: 'may not be written by this user. Give the user the folder, or name another one',
  EPERM: 'may not be written by this user. Give the user the folder, or name another one',
  EROFS: 'is on a file system that is mounted read-only. Mount it for writing, or name another folder',
  ENOSPC: 'is on a disk that is full. Make room, or name a folder on another disk',
  EDQUOT: 'is beyond the quota of this user. Make room, or name a folder on another disk',
  ENOENT: 'cannot be made, or the link that it is leads nowhere. Name another folder',
  ELOOP: 'is a link that leads to itself. Name another folder',
  ENAMETOOLONG: 'is a name longer than the file system takes. Name another folder',
  EOPNOTSUPP: 'is on a file system that lacks what the database needs (unix sockets, fsync). Name a folder on a local disk',
  ENOTSUP: 'is on a file system that lacks what the database needs (unix sockets, fsync). Name a folder on a local disk',
  EMFILE: 'needs more open files than this process may have. Raise the limit (ulimit -n)',
  ENFILE: 'needs more open files than this system may have. Raise the limit (fs.file-max)',
};
/** The disk or the mount itself is at fault. */
const DISK_CODES = new Set([
  'EIO',
  'ESTALE',
  'ENOTCONN',
  'ETIMEDOUT',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENODEV',
  'ENXIO',
  'EREMOTEIO',
  'EUCLEAN',
]);

function isKnown(code: string): boolean {
  return code in FILE_TROUBLE || DISK_CODES.has(code);
}

/** `folder` is absolute. */
export function dataDirWords(folder: string): (error: unknown) => string | undefined {
  return (error) => {
    const { code, path } = detailsOf(error);
    if (error instanceof EmbeddedDatabaseFailed && (code === undefined || !isKnown(code)))
      return `DATA_DIR: the embedded database in ${folder} does not start (${firstLine(error)}). If its files are damaged, restore them from a backup.`;
    if (code === undefined) return undefined;
    // A copy that fails names its source, which lies beside the program.
    const place = path?.startsWith(folder) ? path : folder;
    const trouble = FILE_TROUBLE[code];
    if (trouble !== undefined) return `DATA_DIR: ${place} ${trouble} (${code}).`;
    if (DISK_CODES.has(code))
      return `DATA_DIR: ${place} does not work: its disk or mount fails (${code}). Repair it, or name another folder.`;
    return undefined;
  };
}

type ObjectsPlace = Pick<Settings, 'DATA_DIR' | 'OBJECTS_DIR'>;

/** The folder of files and of unfinished uploads, absolute. With S3 only the latter are there. */
export function objectsDir({ DATA_DIR, OBJECTS_DIR }: ObjectsPlace): string {
  return OBJECTS_DIR === undefined ? join(resolve(DATA_DIR), 'objects') : resolve(OBJECTS_DIR);
}

export function objectsDirWords(settings: ObjectsPlace): (error: unknown) => string | undefined {
  const words = dataDirWords(objectsDir(settings));
  return settings.OBJECTS_DIR === undefined ? words : (error) => words(error)?.replace(/^DATA_DIR:/, 'OBJECTS_DIR:');
}

const UNREACHABLE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'the host is not known',
  EAI_AGAIN: 'the host cannot be looked up',
  ETIMEDOUT: 'it does not answer',
  CONNECT_TIMEOUT: 'it does not answer',
  EHOSTUNREACH: 'there is no way to the host',
  ENETUNREACH: 'there is no way to the host',
  ECONNRESET: 'it closes the connection',
  CONNECTION_CLOSED: 'it closes the connection',
  EPIPE: 'it closes the connection',
};

/** SQLSTATEs by which a server refuses a start. */
const REFUSED: Readonly<Record<string, string>> = {
  '28P01': 'refuses the user or the password. Correct them',
  '28000': 'refuses the user. Correct the user, or let it in by pg_hba.conf',
  '3D000': 'has no such database. Create it, or correct the name',
  '42501': 'does not let this user make tables. Grant it CREATE on the database and its schema',
  '53300': 'has no connection left. Lower DATABASE_POOL, or raise its max_connections',
  '57P03': 'takes no connections yet. Start Easel when it is ready',
  '25006': 'is read-only, as a standby is. Name the primary',
  '25007': 'is read-only, as a standby is. Name the primary',
};

/** Never shows the password that the address may contain. */
export function databaseWords(address: string): (error: unknown) => string | undefined {
  const where = withoutSecret(address);
  return (error) => {
    const { code, path } = detailsOf(error);
    // A path is one of the program's own files.
    if (code === undefined || path !== undefined) return undefined;
    const way = UNREACHABLE[code] ?? certificateTrouble(code);
    if (way !== undefined)
      return `DATABASE_URL: the database at ${where} cannot be reached: ${way} (${code}). Start it, or correct the address.`;
    const message = error instanceof Error ? error.message : String(error);
    const refusal = REFUSED[code];
    if (refusal !== undefined) return `DATABASE_URL: the server at ${where} ${refusal} (${code}: ${message}).`;
    // Any other SQLSTATE, and what its client says of servers that it does not understand.
    if (/^[0-9A-Z]{5}$/.test(code) || /^[A-Z]+_[A-Z_]+$/.test(code))
      return `DATABASE_URL: the server at ${where} cannot be used (${code}: ${message}). Correct the server, or name another one.`;
    return undefined;
  };
}

/** By the code that the store answers: the settings at fault, and what it does with them. */
const STORE_TROUBLE: readonly (readonly [RegExp, string, string])[] = [
  [
    /AccessKey|SignatureDoesNotMatch|AccessDenied|Forbidden|InvalidToken|RequestTimeTooSkewed/,
    'S3_ACCESS_KEY, S3_SECRET_KEY',
    'refuses them for its bucket. Correct the keys, or their rights',
  ],
  [/Bucket/, 'S3_BUCKET', 'refuses this bucket. Name another one'],
  [/Region|AuthorizationHeaderMalformed|PermanentRedirect/, 'S3_REGION', 'has the bucket elsewhere. Correct the region'],
];

export function storeWords(settings: Pick<Settings, 'S3_ENDPOINT' | 'S3_BUCKET'>): (error: unknown) => string | undefined {
  const where = `the object store at ${withoutSecret(settings.S3_ENDPOINT ?? '')}`;
  return (error) => {
    if (!(error instanceof Error)) return undefined;
    // Its client names what it refuses by itself by the class of the error.
    const code = detailsOf(error).code ?? error.name;
    const way = UNREACHABLE[code] ?? certificateTrouble(code);
    if (way !== undefined) return `S3_ENDPOINT: ${where} cannot be reached: ${way} (${code}). Start it, or correct the address.`;
    for (const [codes, names, trouble] of STORE_TROUBLE) {
      if (codes.test(code)) return `${names}: ${where} ${trouble} (bucket ${settings.S3_BUCKET}, ${code}).`;
    }
    return `S3_ENDPOINT: ${where} cannot be used (${code}: ${firstLine(error)}). Correct the address, or the store.`;
  };
}

/** By the first word of what Redis answers. */
const REDIS_REFUSED: Readonly<Record<string, string>> = {
  WRONGPASS: 'refuses the user or the password. Correct them',
  NOAUTH: 'asks for a password. Add it',
  NOPERM: 'does not let this user do what Easel needs. Grant it all commands on keys and channels that begin with easel:',
  LOADING: 'still loads its data. Start Easel when it is ready',
  MASTERDOWN: 'is a replica without its primary. Name the primary',
  READONLY: 'is a replica. Name the primary',
};

/** Never shows the password that the address may contain. */
export function redisWords(address: string): (error: unknown) => string | undefined {
  const where = withoutSecret(address);
  return (error) => {
    if (!(error instanceof Error)) return undefined;
    const { code } = detailsOf(error);
    const way = code === undefined ? undefined : (UNREACHABLE[code] ?? certificateTrouble(code));
    if (way !== undefined) return `REDIS_URL: Redis at ${where} cannot be reached: ${way} (${code}). Start it, or correct the address.`;
    const word = error.message.split(' ')[0] ?? '';
    const refusal = REDIS_REFUSED[word];
    if (refusal !== undefined) return `REDIS_URL: Redis at ${where} ${refusal} (${firstLine(error)}).`;
    if (/RESP type|Protocol error/.test(error.message)) return `REDIS_URL: what listens at ${where} is not Redis. Correct the address.`;
    // Redis answers in capitals, and its client names its own errors.
    if (!/^[A-Z]{3,} /.test(error.message) && !/^(Reply|MaxRetries|Abort)/.test(error.name)) return undefined;
    return `REDIS_URL: Redis at ${where} cannot be used (${firstLine(error)}). Correct the server, or name another one.`;
  };
}

/** Of the port for the other nodes, and of the certificates that it shows. */
export function peerWords(address: string): (error: unknown) => string | undefined {
  return (error) => {
    const { code, path } = detailsOf(error);
    if (path !== undefined) return `PEER_TLS_CERT, PEER_TLS_KEY, PEER_TLS_CA: ${path} cannot be read (${code}).`;
    if (code === 'EADDRINUSE') return `PEER_ADDRESS: another process listens on ${address}. Stop it, or choose another port.`;
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return `PEER_ADDRESS: ${address} is not an address of this machine.`;
    if (code === 'EACCES') return `PEER_ADDRESS: this user may not listen on ${address}. Choose a port above 1023.`;
    return code !== undefined && certificateTrouble(code) !== undefined
      ? `PEER_TLS_CERT, PEER_TLS_KEY, PEER_TLS_CA: TLS fails (${code}).`
      : undefined;
  };
}

/** Node's names for what is wrong with TLS. */
function certificateTrouble(code: string): string | undefined {
  return /CERT|^ERR_(TLS|SSL)|^EPROTO$|UNABLE_TO_/.test(code) ? 'TLS fails' : undefined;
}

/** For a host with several addresses, each attempt has its own error; the first one is enough, because they are alike. */
function detailsOf(error: unknown): { readonly code?: string; readonly path?: string } {
  if (!(error instanceof Error)) return {};
  if ('code' in error && typeof error.code === 'string') {
    return { code: error.code, ...('path' in error && typeof error.path === 'string' && { path: error.path }) };
  }
  if (error instanceof AggregateError) return detailsOf(error.errors[0]);
  return detailsOf(error.cause);
}

function withoutSecret(address: string): string {
  const { host, pathname } = new URL(address);
  return `${host}${pathname === '/' ? '' : pathname}`;
}

function firstLine(error: Error): string {
  return error.message.split('\n')[0]?.replace(/\.$/, '') ?? '';
}
