/** Branded ids: a prefix and 24 lowercase base-32 characters (120 random bits). */
import { z } from 'zod';
import { patterned } from './pattern.ts';

const ID_PREFIXES = {
  artifact: 'art',
  version: 'ver',
  user: 'usr',
  token: 'tok',
  upload: 'upl',
  previewLink: 'lnk',
  row: 'row',
  blob: 'blob',
  guest: 'gst',
  comment: 'cmt',
  mail: 'eml',
} as const;

export type IdKind = keyof typeof ID_PREFIXES;
export type Id<K extends IdKind> = string & { readonly __id: K };
export type ArtifactId = Id<'artifact'>;
export type VersionId = Id<'version'>;
export type UserId = Id<'user'>;
export type TokenId = Id<'token'>;
export type UploadId = Id<'upload'>;
export type GuestId = Id<'guest'>;
export type PreviewLinkId = Id<'previewLink'>;

// RFC 4648 base 32 in lowercase: every character is safe in a host name, a path and a file name.
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const RANDOM_CHARS = 24;
/** Random bytes are fetched for so many ids at once: one fetch costs as much as all else of storing a row. */
const IDS_AHEAD = 128;

const random = { bytes: new Uint8Array(0), used: 0 };

/** A fresh random id of one kind, for example `art_k3v…` (4 + 24 characters). */
export function newId<K extends IdKind>(kind: K): Id<K> {
  if (random.used === random.bytes.length) {
    random.bytes = crypto.getRandomValues(new Uint8Array(RANDOM_CHARS * IDS_AHEAD));
    random.used = 0;
  }
  let text = `${ID_PREFIXES[kind]}_`;
  for (let char = 0; char < RANDOM_CHARS; char += 1) text += ALPHABET[(random.bytes[random.used + char] ?? 0) & 31];
  random.used += RANDOM_CHARS;
  return text as Id<K>;
}

/** The schema of one kind of id. Parsing brands the string; inner code never checks it again. */
export function idSchema<K extends IdKind>(kind: K) {
  const pattern = new RegExp(`^${ID_PREFIXES[kind]}_[a-z0-9]{24}$`);
  const schema = z
    .string()
    .regex(pattern, `must look like ${ID_PREFIXES[kind]}_ and 24 characters`)
    .transform((text) => text as Id<K>);
  return patterned(schema, pattern);
}
