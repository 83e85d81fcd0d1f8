/** The artifacts that have the words, as far as the index can tell whom they are open to. */
import type { Statement } from '../../../storage/sql.ts';
import { sharedIds } from '../../artifacts/artifacts/lists.ts';
import type { Queries } from '../../deps.ts';
import { boundsOf, type Reader, type Within } from './reader.ts';
import { anyQuery, isShortBeginning, nameQuery, type Term } from './terms.ts';

const PUBLIC = ['public'];
/** Of a word that more public pages say, some of them are looked at; the reader's own are all. */
const PUBLIC_MAX = 3000;

/** As texts of tsqueries. What has `words`, or is called `names` and has the `rest`. */
export interface Match {
  readonly words: string;
  readonly names: string | null;
  readonly rest: string | null;
}

/** Only what artifacts are called is looked through for the first letters of a word. */
export function hasAll(terms: readonly Term[]): Match {
  const begun = terms.find(isShortBeginning);
  const words = terms.map((term) => `(${anyQuery(term)})`).join(' & ');
  if (begun === undefined) return { words, names: null, rest: null };
  const rest = terms.filter((term) => term !== begun).map((term) => `(${anyQuery(term)})`);
  return { words, names: nameQuery(begun), rest: rest.length === 0 ? null : rest.join(' & ') };
}

export function hasSome(terms: readonly Term[]): Match {
  return { words: terms.map(anyQuery).join(' | '), names: null, rest: null };
}

/** Ids of artifacts that match, among them all that the reader may open. To be combined with `mayOpen`, which decides. */
export function candidates(sql: Queries, reader: Reader, within: Within, match: Match): Statement {
  const { workspaces, artifacts } = boundsOf(reader, within);
  const { accounts, runs, belongsTo, actsFor } = reader.viewer;
  if (artifacts !== null)
    return sql`select d.artifact_id from search_document d where d.artifact_id = any(${artifacts}) and ${matches(sql, match)}`;
  const reach = workspaces ?? [...accounts, ...runs, ...belongsTo, ...(actsFor === null ? [] : [actsFor])];
  return sql`
    select search_reached(${match.words}::tsquery, ${reach}::text[])
    union (select search_reached(${match.words}::tsquery, ${PUBLIC}::text[]) where ${workspaces === null}::boolean limit ${PUBLIC_MAX})
    union select d.artifact_id from search_document d
    where ${match.names}::text is not null and d.artifact_id = any(array(
        select search_named(${match.names}::tsquery, ${reach}::text[])
        union all (select search_named(${match.names}::tsquery, ${PUBLIC}::text[]) where ${workspaces === null}::boolean limit ${PUBLIC_MAX})))
      and (${match.rest}::tsquery is null or d.words @@ ${match.rest}::tsquery)
    union select d.artifact_id from search_document d
    where d.artifact_id = any(array(${sharedIds(sql, reader.viewer)} union all select ${reader.letInto}::text)) and ${matches(sql, match)}`;
}

function matches(sql: Queries, { words, names, rest }: Match): Statement {
  return sql`(
    d.words @@ ${words}::tsquery
    or (d.names @@ ${names}::tsquery and (${rest}::tsquery is null or d.words @@ ${rest}::tsquery)))`;
}
