/** Turns of the artifact's actor that need its comments. */
import type { ArtifactActor } from '../../../../actors/runtime/artifact-actor.ts';
import type { ActorRuntime, Asker } from '../../../../actors/runtime/runtime.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';

/** A call of an endpoint of comments. */
export interface CommentCall extends Asker {
  readonly params: { readonly artifactId: ArtifactId };
}

/** Runs `turn` after the actor has loaded the comments. */
export function askComments<T>(
  { runtime }: { readonly runtime: Pick<ActorRuntime, 'ask'> },
  call: CommentCall,
  turn: (actor: ArtifactActor) => T,
): T | Promise<T> {
  return runtime.ask(call.params.artifactId, turn, ({ comments }) => comments.prepare(), call);
}
