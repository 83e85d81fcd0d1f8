/** Wraps a client and records the SQL texts that are passed to it as a whole. */
import type { ISql } from 'postgres';

const RESERVE = 'reserve';

/** Adds to `texts` every argument of `unsafe`, also on reserved connections and in transactions, and the options of `begin`. */
export function recorded<C extends ISql<{ bigint: number }>>(client: C, texts: string[]): C {
  return new Proxy(client, {
    get(target, name) {
      const own: unknown = Reflect.get(target, name);
      if (typeof own !== 'function') return own;
      if (name === RESERVE) return async () => recorded(await own(), texts);
      if (name !== 'unsafe' && name !== 'begin') return own;
      return (first: unknown, ...rest: unknown[]) => {
        if (typeof first === 'string') texts.push(first);
        return own(...[first, ...rest].map((given) => (typeof given === 'function' ? inRecorded(given as InTransaction, texts) : given)));
      };
    },
  });
}

type InTransaction = (tx: ISql<{ bigint: number }>) => unknown;

function inRecorded(use: InTransaction, texts: string[]): InTransaction {
  return (tx) => use(recorded(tx, texts));
}
