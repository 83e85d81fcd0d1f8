/** What separates the cells of a CSV file: Excel writes semicolons where a comma is the decimal sign, and others write tabs or pipes. */

/** Where two are found equally often, the first one is meant. */
const DELIMITERS = [',', ';', '\t', '|'] as const;
export type Delimiter = (typeof DELIMITERS)[number];

/** Of the first records; what comes after so many characters is not looked at. */
const LOOKED_AT_CHARS = 64 * 1024;

export interface CsvShape {
  readonly delimiter: Delimiter;
  /** In which the first record begins: before it can be a line that only names the delimiter. */
  readonly from: number;
}

/**
 * The one that the first record has most often outside its quotes, unless the second record lacks it: a sign in the name of a single column
 * separates nothing.
 */
export function csvShape(text: string): CsvShape {
  const named = /^sep=([,;\t|])\r?\n/.exec(text);
  if (named !== null) return { delimiter: named[1] as Delimiter, from: named[0].length };
  const [first, second] = countsOfRecords(text.slice(0, LOOKED_AT_CHARS));
  const found = (one: Delimiter) => (second?.[one] === 0 ? 0 : (first?.[one] ?? 0));
  const delimiter = DELIMITERS.reduce((most, one) => (found(one) > found(most) ? one : most));
  return { delimiter, from: 0 };
}

type Counts = Record<Delimiter, number>;

/** Of the first two records that are not empty. */
function countsOfRecords(text: string): Counts[] {
  const records: Counts[] = [];
  let counts: Counts | undefined;
  let isQuoted = false;
  for (const char of text) {
    if (!isQuoted && (char === '\n' || char === '\r')) {
      counts = undefined;
      if (records.length === 2) break;
      continue;
    }
    if (counts === undefined) {
      counts = { ',': 0, ';': 0, '\t': 0, '|': 0 };
      records.push(counts);
    }
    // Two quotes within a quoted cell stand for one: it ends and begins again.
    if (char === '"') isQuoted = !isQuoted;
    else if (!isQuoted && Object.hasOwn(counts, char)) counts[char as Delimiter] += 1;
  }
  return records;
}
