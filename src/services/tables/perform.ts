/** Runs an operation on a table in its artifact's actor, and decides who may. */
import type { Role } from '../../../actors/access.ts';
import type { ActorRuntime } from '../../../actors/runtime.ts';
import type { MayWrite, TableOperation } from '../../../actors/table-operations.ts';
import { Failure } from '../../../protocol/errors.ts';
import type { ArtifactId } from '../../../protocol/ids.ts';

/** Answers at once where the actor can; else after the commit of what it saw. Throws or rejects with what the operation throws. */
export function perform<T>(runtime: Pick<ActorRuntime, 'ask'>, id: ArtifactId, operation: TableOperation<T>): T | Promise<T> {
  let answer: T | Promise<T>;
  try {
    answer = runtime.ask(
      id,
      (actor) => operation.run(actor),
      (actor) => operation.prepare(actor),
    );
  } catch (error) {
    operation.close();
    throw error;
  }
  if (answer instanceof Promise) return answer.finally(() => operation.close());
  operation.close();
  return answer;
}

/** The same for an operation of several turns, the next one after the commit of the last. Answers the sum of what they answer. */
export async function performInPieces(
  runtime: Pick<ActorRuntime, 'ask'>,
  id: ArtifactId,
  operation: TableOperation<number> & { readonly isDone: boolean },
): Promise<number> {
  let sum = 0;
  try {
    do {
      sum += await runtime.ask(
        id,
        (actor) => operation.run(actor),
        (actor) => operation.prepare(actor),
      );
    } while (!operation.isDone);
  } finally {
    operation.close();
  }
  return sum;
}

/** Beyond the artifact's own rules, which the edge has checked: what the table's schema says of `write`. */
export function mayWriteAs(role: Role): MayWrite {
  return ({ schema }) => {
    const write = schema?.write ?? 'any';
    const isAllowed = write === 'any' || role === 'owner' || (write === 'collaborator' && role === 'editor');
    if (!isAllowed) {
      const who = write === 'owner' ? 'the owner' : 'the owner and editors';
      throw new Failure('FORBIDDEN', { message: `This table is written by ${who} only.`, param: 'table' });
    }
  };
}
