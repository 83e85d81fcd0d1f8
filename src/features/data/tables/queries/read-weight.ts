/** How long a statement over rows of a table takes at most, estimated from its filter and its fields. Times in ns, for the embedded database. */
import { conjuncts, type Filter } from './filter.ts';

export interface ReadWeight {
  readonly rowNs: number;
  /** For each byte of the rows. */
  readonly byteNs: number;
}

const ROW_NS = 1500;
const TERM_NS = 700;
const BYTE_NS = 1;
/** The search for a text compares, in the worst case, each of its characters with each of the row's. */
const SEARCHED_CHAR_NS = 1.5;
/** Rows that are answered are written as text, in which a number may have three hundred digits. */
const ANSWERED_ROW_NS = 3000;
const ANSWERED_BYTE_NS = 20;
/** Values of a list that are compared in the time of one term. */
const VALUES_PER_TERM = 20;

/** `fields`: how many values are read from each row beside those of the filter. `isAnswered`: whether rows are answered. */
export function weightOf(filter: Filter, fields: number, isAnswered = false): ReadWeight {
  const terms = termsOf(filter) + fields;
  return {
    rowNs: ROW_NS + TERM_NS * terms + (isAnswered ? ANSWERED_ROW_NS : 0),
    byteNs: BYTE_NS * (1 + terms) + SEARCHED_CHAR_NS * searchedCharsOf(filter) + (isAnswered ? ANSWERED_BYTE_NS : 0),
  };
}

function termsOf(filter: Filter): number {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.of.reduce((sum, part) => sum + termsOf(part), 0);
    case 'not':
      return termsOf(filter.of);
    case 'in':
      return 1 + filter.values.length / VALUES_PER_TERM;
    default:
      return 1;
  }
}

/** Characters of all texts that are searched for. */
function searchedCharsOf(filter: Filter): number {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.of.reduce((sum, part) => sum + searchedCharsOf(part), 0);
    case 'not':
      return searchedCharsOf(filter.of);
    case 'contains':
      return typeof filter.value === 'string' ? filter.value.length : 0;
    default:
      return 0;
  }
}

/** Whether every row matches. */
export function isEverything(filter: Filter): boolean {
  return conjuncts(filter).length === 0;
}
