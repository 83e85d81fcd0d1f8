/** Aggregates of one slice of a table, in a form in which those of several slices can be put together to what one statement would have answered. */
import type { Metric } from '../../../../../../protocol/data/table-queries.ts';
import { groupOrder } from '../aggregate.ts';
import { fieldSql } from '../field-sql.ts';
import { parsePath } from '../filter.ts';
import type { Statement } from '../statement.ts';

/**
 * The state of each metric is a jsonb array: a count; a sum; a sum and a count; or the extreme boolean, number and text. Sums stay numeric
 * from slice to slice, so that no digit is lost.
 */
type State = 'count' | 'sum' | 'avg' | 'extreme';

function stateOf({ fn }: Metric): State {
  return fn === 'min' || fn === 'max' ? 'extreme' : fn;
}

export interface Grouped {
  readonly groupBy: readonly string[];
  readonly metrics: readonly Metric[];
}

/** Selects `body`, the groups and the states of each group of `hits`, as text. */
export function partialSql({ groupBy, metrics }: Grouped, groupsMax: number, statement: Statement): string {
  const groups = groupBy.map(
    (field, at) => `coalesce(${fieldSql(parsePath(field, `groupBy.${at}`, 'INVALID_REQUEST'), statement).json}, 'null') as g${at}`,
  );
  const inputs = metrics.map(({ field }, at) => {
    if (field === undefined) return `null::jsonb as m${at}`;
    return `${fieldSql(parsePath(field, `metrics.${at}.field`, 'INVALID_REQUEST'), statement).json} as m${at}`;
  });
  const states = metrics.map((metric, at) => firstState(metric, `m${at}`));
  return grouped(`select ${[...groups, ...inputs].join(', ')} from hits r`, groupBy.length, states, statement.param(groupsMax, 'bigint'));
}

/** Puts partial results together to fewer. `partials`: a jsonb array of what `partialSql` selects. */
export function mergedSql({ groupBy, metrics }: Grouped, partials: string, groupsMax: number, statement: Statement): string {
  const states = metrics.map((metric, at) => mergedState(metric, `m${at}`));
  return grouped(elements(groupBy.length, metrics.length, partials), groupBy.length, states, statement.param(groupsMax, 'bigint'));
}

/** Selects `body`, the groups and results as the aggregates of all rows would be, in their order. */
export function finalSql({ groupBy, metrics }: Grouped, partials: string, limit: string): string {
  const keys = groupBy.map((_, at) => `g${at}`);
  const results = metrics.map((metric, at) => finalState(metric, `m${at}`));
  return `
    select jsonb_build_array(${[...keys, ...results].join(', ')})::text as body
    from (${elements(groupBy.length, metrics.length, partials)}) v
    ${keys.length === 0 ? '' : `group by ${keys.join(', ')} order by ${groupOrder(keys)}`} limit ${limit}`;
}

function grouped(rowsSql: string, groups: number, states: readonly string[], limit: string): string {
  const keys = Array.from({ length: groups }, (_, at) => `g${at}`);
  const by = groups === 0 ? '' : ` group by ${keys.join(', ')}`;
  return `select jsonb_build_array(jsonb_build_array(${keys.join(', ')}), jsonb_build_array(${states.join(', ')}))::text as body
    from (${rowsSql}) v${by} limit ${limit}`;
}

/** The groups and states of partial results as columns. */
function elements(groups: number, metrics: number, partials: string): string {
  const columns = [
    ...Array.from({ length: groups }, (_, at) => `p.value -> 0 -> ${at} as g${at}`),
    ...Array.from({ length: metrics }, (_, at) => `p.value -> 1 -> ${at} as m${at}`),
  ];
  return `select ${columns.join(', ')} from jsonb_array_elements(${partials}) p (value)`;
}

const number = (value: string) => `(case jsonb_typeof(${value}) when 'number' then (${value})::numeric end)`;
const text = (value: string) => `((case jsonb_typeof(${value}) when 'string' then ${value} #>> '{}' end) collate "C")`;
const boolean = (value: string) => `(case jsonb_typeof(${value}) when 'boolean' then (${value})::boolean end)`;

function firstState(metric: Metric, value: string): string {
  switch (stateOf(metric)) {
    case 'count':
      return metric.field === undefined ? 'count(*)' : `count(nullif(${value}, 'null'::jsonb))`;
    case 'sum':
      return `sum(${number(value)})`;
    case 'avg':
      return `jsonb_build_array(sum(${number(value)}), count(${number(value)}))`;
    default:
      return extremes(metric, [value, value, value]);
  }
}

function mergedState(metric: Metric, state: string): string {
  switch (stateOf(metric)) {
    case 'count':
    case 'sum':
      return `sum(${number(state)})`;
    case 'avg':
      return `jsonb_build_array(sum(${number(`${state} -> 0`)}), sum(${number(`${state} -> 1`)}))`;
    default:
      return extremes(metric, [`${state} -> 0`, `${state} -> 1`, `${state} -> 2`]);
  }
}

function finalState(metric: Metric, state: string): string {
  switch (metric.fn) {
    case 'count':
    case 'sum':
      return `to_jsonb(coalesce(sum(${number(state)}), 0))`;
    case 'avg':
      return `to_jsonb(sum(${number(`${state} -> 0`)}) / nullif(sum(${number(`${state} -> 1`)}), 0))`;
    case 'min':
      return `coalesce(to_jsonb(bool_and(${boolean(`${state} -> 0`)})), to_jsonb(min(${number(`${state} -> 1`)})), to_jsonb(min(${text(`${state} -> 2`)})))`;
    case 'max':
      return `coalesce(to_jsonb(max(${text(`${state} -> 2`)})), to_jsonb(max(${number(`${state} -> 1`)})), to_jsonb(bool_or(${boolean(`${state} -> 0`)})))`;
    default:
      return metric.fn satisfies never;
  }
}

function extremes({ fn }: Metric, [bool = '', num = '', txt = '']: readonly string[]): string {
  const logical = fn === 'min' ? 'bool_and' : 'bool_or';
  return `jsonb_build_array(${logical}(${boolean(bool)}), ${fn}(${number(num)}), ${fn}(${text(txt)}))`;
}
