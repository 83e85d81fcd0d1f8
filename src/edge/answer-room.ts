/** Finds room for a large answer among those that wait for their readers. */
import { Failure } from '../../protocol/core/errors.ts';
import type { Answer } from './answer.ts';
import { type AnswersInFlight, LARGE_BYTES, type WaitingAnswer } from './answers-in-flight.ts';
import type { Exchange } from './exchange.ts';
import { failureAnswer } from './failures.ts';
import { isRead, type Operation } from './operation.ts';

/** The answer, or the refusal of a large one for which the shares of its receiver have no room. */
export function withRoom(answers: AnswersInFlight, exchange: Exchange, operation: Operation | undefined, answer: Answer): Answer {
  const { payload, stream } = answer;
  if (exchange.method === 'HEAD' || exchange.aborted || (stream === undefined && (payload?.length ?? 0) < LARGE_BYTES)) return answer;
  try {
    exchange.waiting = stream === undefined ? roomFor(answers, exchange, operation, answer) : answers.admitStream(exchange);
    return answer;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    stream?.abandon?.();
    return failureAnswer(error, { requestId: exchange.requestId, path: exchange.path, accept: exchange.headers.get('accept') });
  }
}

function roomFor(
  answers: AnswersInFlight,
  exchange: Exchange,
  operation: Operation | undefined,
  { payload, isShared, changedNothing }: Answer,
): WaitingAnswer {
  const bytes = Buffer.byteLength(payload ?? '');
  // Nobody may be told that a call has failed which has changed something.
  const reads = operation === undefined || isRead(operation);
  if (!reads && changedNothing !== true) return answers.admitAnyway(exchange, bytes);
  return answers.admit(exchange, bytes, isShared && payload instanceof Uint8Array ? payload.buffer : undefined);
}
