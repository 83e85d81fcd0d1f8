/**
 * The globals of a script. It runs in the sandbox before the script, in the same context, so it trusts nothing that a script can change later:
 * what the host needs is kept in closures, and the host takes only strings and numbers from it.
 */

import type { Bounds, Controls, Natives } from '../../features/automation/scripts/bridge.ts';
import { EaselError } from '../page/errors.ts';
import { jsonKeys } from '../page/json.ts';
import { tableOf } from '../page/table.ts';
import { type Request, segment } from '../page/transport.ts';
import type { Easel, TableAggregate } from './api.ts';
import { Calls } from './calls.ts';
import { consoleOf } from './console.ts';
import { timersOf } from './timers.ts';

/** Called by the worker with its functions. Returns what the worker calls. */
export function start(natives: Natives, bounds: Bounds, params: string): Controls {
  const calls = new Calls(natives, bounds);
  const timers = timersOf(natives, bounds);
  const console = consoleOf(natives);
  const { stringify, parse } = JSON;
  const globals = {
    easel: easelOf(calls),
    console,
    params: parse(params) as unknown,
    setTimeout: timers.setTimeout,
    clearTimeout: timers.clearTimeout,
  };
  Object.assign(globalThis, globals);
  Math.random = () => natives.random();

  async function run(main: () => Promise<unknown>): Promise<void> {
    let value: string;
    try {
      value = stringify(await main()) ?? '';
    } catch (error) {
      // Calls that wait are not made any more.
      natives.finish('error', stringify(thrown(error)));
      return;
    }
    // Calls that the script did not await are made all the same; one that fails is told, because nobody else hears of it.
    await calls.settled((failure) => natives.print(`[error] A call that the script did not await failed: ${failure}`));
    natives.finish('value', value);
  }

  return { run: (main) => void run(main), answered: (id, text) => calls.answered(id, text), fired: timers.fired };
}

function easelOf(calls: Calls): Easel {
  const transport = { call: <T>(request: Request) => calls.data<T>(request) };
  const noFeed = {
    add(): never {
      throw new EaselError({
        code: 'INVALID_REQUEST',
        status: 0,
        message: 'A script cannot watch: it runs once, from its start to its end.',
      });
    },
  };
  const { watch: _noKeys, increment, ...keys } = jsonKeys(transport, noFeed);
  return {
    json: {
      ...keys,
      patch: keys.update,
      increment: (key, by, at) => increment(key, by, typeof at === 'string' ? { path: at } : at),
    },
    table<T extends object>(name: string) {
      const { watch: _noRows, ...table } = tableOf<T>(transport, noFeed, name);
      const path = `/tables/${segment(name)}/aggregate`;
      const aggregate = async (wanted: TableAggregate) =>
        (await transport.call<{ groups: Record<string, unknown>[] }>({ method: 'POST', path, body: wanted, reads: true })).groups;
      return { ...table, aggregate };
    },
    fetch: (url, init) => calls.fetch(url, init),
    // Its codes are those of pages and, here, those of `Calls`.
    EaselError: EaselError as unknown as Easel['EaselError'],
  };
}

const OUT_OF_MEMORY = 'out of memory';

/** Getters of what was thrown are the script's own code, and may throw themselves. */
function thrown(error: unknown) {
  const read = (name: string): unknown => {
    try {
      return (error as Record<string, unknown> | null | undefined)?.[name];
    } catch {
      return undefined;
    }
  };
  const [name, message, stack] = [read('name'), read('message'), read('stack')];
  const isError = error instanceof Error;
  const label = error instanceof EaselError ? error.code : name;
  return {
    message: isError ? `${asText(label)}: ${asText(message)}` : `The script threw ${asText(error)}`,
    stack: typeof stack === 'string' ? stack : '',
    isOutOfMemory: isError && name === 'InternalError' && message === OUT_OF_MEMORY,
    isNull: error === null,
  };
}

function asText(value: unknown): string {
  try {
    return typeof value === 'object' && value !== null ? (JSON.stringify(value) ?? 'an object') : String(value);
  } catch {
    return 'an object';
  }
}
