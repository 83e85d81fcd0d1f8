/** Replaces the runtime while an atomic batch is collected: holds every turn until all of them can run as one. */
import type { ArtifactActor } from '../../actors/runtime/artifact-actor.ts';
import type { Asker } from '../../actors/runtime/runtime.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';

export interface Asked {
  readonly turn: (actor: ArtifactActor) => unknown;
  readonly prepare: ((actor: ArtifactActor) => Promise<void> | undefined) | undefined;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

export class TurnCollector {
  readonly asked: Asked[] = [];
  #closed = false;
  #waiter: { readonly above: number; readonly reached: () => void } | undefined;

  ask<T>(_id: ArtifactId, turn: Asked['turn'] & ((actor: ArtifactActor) => T), prepare?: Asked['prepare'], _asker?: Asker): Promise<T> {
    if (this.#closed) throw new Error('A handler of an atomic batch called ask twice');
    return new Promise<T>((resolve, reject) => {
      this.asked.push({ turn, prepare, resolve: (value) => resolve(value as T), reject });
      if (this.#waiter !== undefined && this.asked.length > this.#waiter.above) this.#waiter.reached();
    });
  }

  askedMoreThan(above: number): Promise<void> {
    if (this.asked.length > above) return Promise.resolve();
    return new Promise((reached) => {
      this.#waiter = { above, reached };
    });
  }

  /** Accepts no more turns. */
  close(): readonly Asked[] {
    this.#closed = true;
    return this.asked;
  }
}
