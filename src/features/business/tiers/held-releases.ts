/** Looks for held visibilities wherever a plan may have changed: one look at a time, each in bounded steps. */
import type { ServiceDeps } from '../../deps.ts';
import type { HeldScope } from './held-rows.ts';
import { releaseHeld } from './releasing.ts';

/** Scopes that wait; beyond them one look at everything takes their place. */
const WAITING_MAX = 1000;

export class HeldReleases {
  readonly #deps: Pick<ServiceDeps, 'sql' | 'clock' | 'bus' | 'log'>;
  readonly #stopping = new AbortController();
  #waiting = new Map<string, HeldScope>();
  #running: Promise<void> | undefined;

  constructor(deps: Pick<ServiceDeps, 'sql' | 'clock' | 'bus' | 'log'>) {
    this.#deps = deps;
    deps.bus.listen('held visibilities', {
      'workspace.changed': ({ workspaceId }) => void this.look({ of: 'workspace', id: workspaceId }),
      'person.changed': ({ userIds }) => void this.look({ of: 'people', userIds }),
      // Of all nodes only the first that locks a row releases it.
      resync: () => this.look({ of: 'all' }),
    });
  }

  /** Settles when everything that waits has been looked at. */
  look(scope: HeldScope): Promise<void> {
    if (this.#stopping.signal.aborted) return Promise.resolve();
    if (this.#waiting.size >= WAITING_MAX) {
      this.#waiting.clear();
      this.#waiting.set('all', { of: 'all' });
    }
    // A look at everything that has not begun covers any part.
    if (!this.#waiting.has('all')) this.#waiting.set(keyOf(scope), scope);
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    for (let next = this.#take(); next !== undefined && !signal.aborted; next = this.#take()) {
      try {
        await releaseHeld(this.#deps, next, signal);
      } catch (err) {
        // The daily sweep looks at everything again.
        this.#deps.log.error({ err, scope: next.of }, 'held visibilities could not be released');
      }
    }
  }

  #take(): HeldScope | undefined {
    const [first] = this.#waiting;
    if (first === undefined) return undefined;
    this.#waiting.delete(first[0]);
    return first[1];
  }
}

function keyOf(scope: HeldScope): string {
  switch (scope.of) {
    case 'all':
      return 'all';
    case 'workspace':
      return scope.id;
    case 'people':
      return scope.userIds.join();
    default:
      return scope satisfies never;
  }
}
