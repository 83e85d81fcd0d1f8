/** Stands in for the runtime while an atomic batch is gathered: holds every turn that is asked for until all can be run as one. */
import type { ArtifactActor } from '../../actors/artifact-actor.ts';
import type { ArtifactId } from '../../protocol/ids.ts';

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

  ask<T>(_id: ArtifactId, turn: Asked['turn'] & ((actor: ArtifactActor) => T), prepare?: Asked['prepare']): Promise<T> {
    if (this.#closed) throw new Error('A handler of an atomic batch asked twice');
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

  /** Takes no more turns. */
  close(): readonly Asked[] {
    this.#closed = true;
    return this.asked;
  }
}
