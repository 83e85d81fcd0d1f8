/** Runs an operation on a table in its artifact's actor. */
import type { ActorRuntime, Asker } from '../../../../actors/runtime/runtime.ts';
import type { TableOperation } from '../../../../actors/tables/table-operations.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';

/** Returns at once if the actor can, else after the commit of what it saw. Throws or rejects with what the operation throws. */
export function perform<T>(
  runtime: Pick<ActorRuntime, 'ask'>,
  id: ArtifactId,
  operation: TableOperation<T>,
  asker?: Asker,
): T | Promise<T> {
  let answer: T | Promise<T>;
  try {
    answer = runtime.ask(
      id,
      (actor) => operation.run(actor),
      (actor) => operation.prepare(actor),
      asker,
    );
  } catch (error) {
    operation.close();
    throw error;
  }
  if (answer instanceof Promise) return answer.finally(() => operation.close());
  operation.close();
  return answer;
}

/** Runs an operation of several turns, each after the commit of the previous one. Returns the sum of their results. */
export async function performInPieces(
  runtime: Pick<ActorRuntime, 'ask'>,
  id: ArtifactId,
  operation: TableOperation<number> & { readonly isDone: boolean },
  asker?: Asker,
): Promise<number> {
  let sum = 0;
  try {
    do {
      sum += await runtime.ask(
        id,
        (actor) => operation.run(actor),
        (actor) => operation.prepare(actor),
        asker,
      );
    } while (!operation.isDone);
  } finally {
    operation.close();
  }
  return sum;
}
