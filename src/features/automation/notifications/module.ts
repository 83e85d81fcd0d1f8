import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Module, ModuleDeps } from '../../module.ts';
import { type BellStreamDeps, BellStreams } from './bell-streams.ts';
import { NOTICES_KEPT_MS, notificationHandlers } from './handlers.ts';
import { deleteOldNotices } from './rows.ts';

type Ids = keyof ReturnType<typeof notificationHandlers>;

export function notificationsModule(
  deps: ModuleDeps & Pick<BellStreamDeps, 'tokens' | 'banner'>,
): Module<Ids> & { readonly streams: BellStreams } {
  const { sql, clock } = deps;
  const streams = new BellStreams({
    ...deps,
    keptMs: NOTICES_KEPT_MS,
    streamsMax: Math.min(LIMITS.bellStreamsMax, deps.caps.streams.total),
  });
  return {
    streams,
    handlers: notificationHandlers({ ...deps, streams }),
    sweeps: [{ name: 'notices', run: () => deleteOldNotices(sql, clock.nowMs() - NOTICES_KEPT_MS) }],
    gauges: [{ name: 'easel_bell_streams_open', help: 'Open streams of the bell.', read: () => streams.total }],
    close: () => Promise.resolve(streams.close()),
  };
}
