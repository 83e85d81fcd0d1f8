/** Whether somebody may hear of comments, beyond who may see the page: the settings of the artifact say. */
import { type ArtifactHead, type Principal, roleOf } from '../../../actors/access.ts';
import { mayModerate } from '../../../actors/comment-rules.ts';
import type { ActorRuntime } from '../../../actors/runtime.ts';

/** At once where it needs nothing to be read. Rejects as `runtime.ask` does. */
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
