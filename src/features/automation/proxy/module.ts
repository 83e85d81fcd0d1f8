import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { onArtifact } from '../../../platform/bus.ts';
import { ReadCache } from '../../../platform/cache.ts';
import type { Module, ModuleDeps } from '../../module.ts';
import { proxyHandlers } from './handlers.ts';
import { ProxyReading } from './reading.ts';
import { type ProxySettings, readProxySettings } from './rows.ts';
import { NO_HOSTS } from './rules.ts';

type Ids = keyof ReturnType<typeof proxyHandlers>;

const SETTINGS_MAX = 10_000;

export function proxyModule(deps: ModuleDeps): Module<Ids> {
  const settings = new ReadCache<ArtifactId, ProxySettings>({
    entriesMax: SETTINGS_MAX,
    load: async (artifactId) => (await readProxySettings(deps.sql, artifactId)) ?? NO_HOSTS,
  });
  const reading = new ProxyReading(deps);
  deps.bus.cache('proxy settings', {
    everything: () => settings.clear(),
    ...onArtifact(({ artifactId }) => settings.invalidate(artifactId)),
    'artifact.gone': ({ artifactId }) => {
      settings.invalidate(artifactId);
      reading.kept.forget(artifactId);
    },
  });
  return {
    handlers: proxyHandlers({ ...deps, settings, reading }),
    gauges: [
      { name: 'easel_proxy_kept_bytes', help: 'Bytes of answers of other hosts that are kept for pages.', read: () => reading.kept.bytes },
    ],
  };
}
