/** Answers that are being made: each ends when its caller leaves, or when what it is made from is open to its caller no longer. */
import { type Principal, standingAt } from '../../../../actors/access/access.ts';
import type { Timer } from '../../../../actors/runtime/ports.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { ReplyStream } from '../../../edge/reply-stream.ts';
import type { ServiceDeps } from '../../deps.ts';
import { accountsOf } from '../../people/accounts/rules.ts';
import type { AnswerPart } from './answering.ts';
import { countOpenable } from './rows.ts';
import type { Answered } from './sources.ts';

/** A timer of Node holds 24 days at most, and a grant may last for years: its end is checked again every day. */
const GRANT_LOOK_MS = 24 * 3600 * 1000;

interface OpenAnswer {
  /** Without the grants that have ended. */
  principal: Principal;
  readonly artifactIds: ReadonlySet<ArtifactId>;
  readonly ended: AbortController;
  /** At the end of the caller's first grant. */
  grantEnd: Timer | undefined;
}

export interface Wanted {
  readonly principal: Principal;
  /** Whose passages it is made from. */
  readonly artifactIds: ReadonlySet<ArtifactId>;
  /** Aborted when nobody waits for the answer any more. */
  readonly callEnded: AbortSignal;
  make(signal: AbortSignal): AsyncGenerator<AnswerPart>;
}

export class OpenAnswers {
  readonly #sql: ServiceDeps['sql'];
  readonly #clock: ServiceDeps['clock'];
  readonly #open = new Set<OpenAnswer>();

  constructor({ sql, clock, bus }: Pick<ServiceDeps, 'sql' | 'clock' | 'bus'>) {
    this.#sql = sql;
    this.#clock = clock;
    const touched = ({ artifactId }: { readonly artifactId: ArtifactId }) => {
      for (const answer of this.#open) if (answer.artifactIds.has(artifactId)) void this.#decideAgain(answer);
    };
    const decideAll = () => {
      for (const answer of this.#open) void this.#decideAgain(answer);
    };
    bus.listen('answers', {
      'artifact.changed': touched,
      'artifact.gone': touched,
      // What they may open is not what it was: whoever still may asks again.
      'person.changed': ({ userIds }) => {
        for (const answer of this.#open) if (accountsOf(answer.principal).some((id) => userIds.includes(id))) end(answer);
      },
      // What it shares with people outside may have ended.
      'workspace.changed': ({ workspaceId }) => {
        for (const answer of this.#open) if (isShared(answer.principal, workspaceId)) end(answer);
      },
      'folder.changed': decideAll,
      resync: decideAll,
    });
  }

  /** Ends all of them. */
  close(): void {
    for (const answer of this.#open) end(answer);
  }

  /** Throws FORBIDDEN where access has ended meanwhile. */
  async whole(wanted: Wanted): Promise<Answered> {
    const answer = await this.#enter(wanted);
    try {
      for await (const { whole } of wanted.make(answer.ended.signal)) if (whole !== undefined) return whole;
    } finally {
      this.#leave(answer);
    }
    throw new Error('an answer ended without the whole of it');
  }

  /** As server-sent events. Answered with FORBIDDEN where access has ended meanwhile. */
  stream(wanted: Wanted): ReplyStream {
    let entered: OpenAnswer | undefined;
    return {
      prepare: async () => {
        entered = await this.#enter(wanted);
      },
      abandon: () => {
        if (entered !== undefined) this.#abandon(entered);
      },
      start: (sink) => {
        if (entered === undefined) throw new Error('an answer was started before it was prepared');
        const answer = entered;
        let wake: (() => void) | undefined;
        sink.onDrain(() => wake?.());
        sink.onClose(() => {
          this.#abandon(answer);
          wake?.();
        });
        const write = async () => {
          for await (const part of wanted.make(answer.ended.signal)) {
            const event = part.whole === undefined ? eventText('text', { text: part.text }) : eventText('done', part.whole);
            if (sink.write(event) || answer.ended.signal.aborted) continue;
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
          }
        };
        write()
          .then(() => sink.end())
          .catch((error) => sink.fail(error instanceof Failure ? undefined : error))
          .finally(() => this.#leave(answer));
      },
    };
  }

  /** Decides once it hears of changes, because access may have ended since the passages were found. Throws FORBIDDEN. */
  async #enter({ principal, artifactIds, callEnded }: Wanted): Promise<OpenAnswer> {
    const answer: OpenAnswer = { principal, artifactIds, ended: new AbortController(), grantEnd: undefined };
    const leave = () => answer.ended.abort(callEnded.reason);
    if (callEnded.aborted) leave();
    else callEnded.addEventListener('abort', leave, { once: true });
    this.#open.add(answer);
    await this.#decideAgain(answer);
    const { signal } = answer.ended;
    if (signal.aborted) this.#leave(answer);
    signal.throwIfAborted();
    return answer;
  }

  #leave(answer: OpenAnswer): void {
    this.#open.delete(answer);
    answer.grantEnd?.cancel();
  }

  #abandon(answer: OpenAnswer): void {
    this.#leave(answer);
    end(answer);
  }

  #awaitGrantEnd(answer: OpenAnswer): void {
    answer.grantEnd?.cancel();
    const endMs = answer.principal.kind === 'user' ? answer.principal.person.grants.endMs : Infinity;
    if (endMs === Infinity) return;
    const leftMs = endMs - this.#clock.nowMs();
    answer.grantEnd = this.#clock.after(Math.min(leftMs, GRANT_LOOK_MS), () => void this.#decideAgain(answer));
  }

  /** Ends it where the caller may not open all of its artifacts now. */
  async #decideAgain(answer: OpenAnswer): Promise<void> {
    if (answer.ended.signal.aborted) return;
    answer.principal = standingAt(answer.principal, this.#clock.nowMs());
    this.#awaitGrantEnd(answer);
    if (answer.artifactIds.size === 0) return;
    try {
      if ((await countOpenable(this.#sql, answer.principal, [...answer.artifactIds])) < answer.artifactIds.size) end(answer);
    } catch {
      // What cannot be decided is not answered.
      end(answer);
    }
  }
}

function isShared(principal: Principal, workspaceId: WorkspaceId): boolean {
  return principal.kind === 'user' && principal.person.grants.sharedBy.has(workspaceId);
}

function end({ ended }: OpenAnswer): void {
  ended.abort(new Failure('FORBIDDEN', { message: 'What you may open has changed during the answer. Ask again.' }));
}

function eventText(event: string, data: object): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
