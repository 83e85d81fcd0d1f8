/** Slugs: the host label under which an artifact is served. */
import { Failure } from '../../../../protocol/core/errors.ts';
import { slugSchema } from '../../../../protocol/core/fields.ts';
import type { Queries } from '../../deps.ts';
import { readSlugOwner } from './rows.ts';

// Names that a visitor would take for the service itself, or that mail and browsers treat specially.
const RESERVED = new Set(
  (
    'www api admin app apps docs doc static assets asset cdn mail email smtp imap pop ftp ns ns1 ns2 mx localhost local ' +
    'root system internal status health metrics auth login logout signin signup oauth account accounts billing support help ' +
    'security abuse postmaster webmaster hostmaster dashboard console blog about legal terms privacy files uploads download ' +
    'dev staging test preview autodiscover autoconfig wpad isatap broadcasthost easel'
  ).split(' '),
);

const SUFFIX_CHARS = 5;
const SLUG_CHARS_MAX = 63;
const SUFFIXED_TRIES_MAX = 8;

/** Throws INVALID_SLUG for a slug that breaks the rules or is reserved. */
export function requireSlug(slug: string): void {
  if (!slugSchema.safeParse(slug).success) throw new Failure('INVALID_SLUG', { param: 'slug' });
  // Labels with hyphens in the third and fourth place are reserved for internationalised names: browsers refuse or rewrite them.
  if (slug.startsWith('--', 2)) {
    throw new Failure('INVALID_SLUG', { param: 'slug', hint: 'Do not put two hyphens in the third and fourth place.' });
  }
  if (RESERVED.has(slug)) {
    throw new Failure('INVALID_SLUG', { param: 'slug', message: 'The slug is reserved.', hint: 'Choose another slug.' });
  }
}

/** A slug made from a name: `Café Noir!` becomes `cafe-noir`. Reserved slugs and single characters get `-page`. */
export function slugify(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_CHARS_MAX - SUFFIX_CHARS)
    .replace(/^-+|-+$/g, '');
  if (plain === '') return 'page';
  return plain.length < 2 || RESERVED.has(plain) ? `${plain}-page` : plain;
}

/**
 * `base` where it is free, otherwise (or with `mustDiffer`) `base` with a random suffix. Another transaction may still take the slug before
 * this one commits. Throws SLUG_TAKEN when every suffix tried is taken too.
 */
export function freeSlug(sql: Queries, base: string, mustDiffer = false): Promise<string> {
  return freeSlugOf(base, async (slug) => (await readSlugOwner(sql, slug)) !== null, mustDiffer);
}

/** The same among the slugs that `isTaken` knows. */
export async function freeSlugOf(base: string, isTaken: (slug: string) => Promise<boolean>, mustDiffer = false): Promise<string> {
  for (let attempt = mustDiffer ? 1 : 0; attempt < SUFFIXED_TRIES_MAX; attempt += 1) {
    const slug = attempt === 0 ? base : `${base.slice(0, SLUG_CHARS_MAX - SUFFIX_CHARS)}-${randomSuffix()}`;
    if (!(await isTaken(slug))) return slug;
  }
  throw new Failure('SLUG_TAKEN', { param: 'slug' });
}

function randomSuffix(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SUFFIX_CHARS - 1));
  return Array.from(bytes, (byte) => 'abcdefghijklmnopqrstuvwxyz234567'[byte & 31]).join('');
}
