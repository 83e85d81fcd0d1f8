/** Sends a follower's events as server-sent events. */
import type { ReplySink } from '../../../edge/reply-stream.ts';
import type { Outlet, Taken } from './follower.ts';

/** How long a browser waits before it reconnects. */
const RETRY_MS = 2000;

export function sseOutlet(sink: ReplySink): Outlet {
  const send = (text: string): Taken => (sink.write(text) ? 'sent' : 'queued');
  return {
    begin: (seq, headSeq) => send(`retry: ${RETRY_MS}\nid: ${seq}\nevent: hello\ndata: {"seq":${headSeq}}\n\n`),
    reset: (seq) => send(`id: ${seq}\nevent: reset\ndata: {"seq":${seq}}\n\n`),
    event: ({ seq, json }) => send(`id: ${seq}\nevent: change\ndata: ${json}\n\n`),
    beat: () => send(':\n\n'),
    end: () => sink.end(),
    fail: (error) => sink.fail(error),
  };
}
