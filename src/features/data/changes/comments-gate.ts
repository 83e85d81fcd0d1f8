/** Decides whether a principal that may see an artifact may also follow its comments, by the artifact's comment settings. */
import { type ArtifactHead, type Principal, roleOf } from '../../../../actors/access/access.ts';
import { mayModerate } from '../../../../actors/comments/comment-rules.ts';
import type { ActorRuntime } from '../../../../actors/runtime/runtime.ts';

/** Synchronous if nothing has to be read. Rejects as `runtime.ask` does. */
export type CommentsGate = (head: ArtifactHead, principal: Principal) => boolean | Promise<boolean>;

export function commentsGate(runtime: Pick<ActorRuntime, 'ask'>): CommentsGate {
  return (head, principal) => {
    if (mayModerate({ role: roleOf(head, principal) })) return true;
    return runtime.ask(
      head.id,
      (actor) => actor.comments.settings.enabled,
      (actor) => actor.comments.prepare(),
    );
  };
}
