/** The comments part of the page SDK, without the rest of the SDK. */
import type * as api from '../page/api.ts';
import type { CommentsSurroundings } from '../page/browser.ts';
import { ArtifactChannel } from '../page/channel.ts';
import { commentsOf, type Guest, guestOf } from '../page/comments.ts';
import { Connection } from '../page/connection.ts';
import { Transport } from '../page/transport.ts';

export interface LiveComments {
  readonly comments: api.Comments;
  readonly guest: Guest;
}

export function liveComments(
  site: api.EaselOptions,
  around: CommentsSurroundings,
  became: (state: api.ConnectionState) => void,
): LiveComments {
  const guest = guestOf(site.artifactId, around);
  // Errors show in the state.
  const failed = () => undefined;
  const transport = new Transport(site, around, failed);
  const channel = new ArtifactChannel({
    around,
    connect: (user) => new Connection(transport, around, user),
    token: () => guest.token,
    became,
    failed,
    retries: (error) => guest.isOver(error),
  });
  return { comments: commentsOf({ transport, channel, around, guest, failed }), guest };
}
