/** Names to addresses, by c-ares: unlike getaddrinfo it holds no thread of the pool that files and compression share, however slow a server is. */
import { Resolver } from 'node:dns/promises';
import { EgressFailure } from './failure.ts';

/** All addresses of a name, IPv4 first. Throws EgressFailure dns. */
export type ResolveName = (name: string) => Promise<readonly string[]>;

const TRY_MS = 2000;
const TRIES = 2;

export function systemResolver(): ResolveName {
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
  return async (name) => {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = [...found(v4), ...found(v6)];
    if (addresses.length === 0) throw new EgressFailure('dns', `There is no address for the host ${name}.`);
    return addresses;
  };
}

function found(settled: PromiseSettledResult<string[]>): readonly string[] {
  return settled.status === 'fulfilled' ? settled.value : [];
}
