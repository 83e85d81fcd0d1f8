/** What whoever runs the installation tells everybody. It comes with the stream of the bell, so that it appears and goes by itself. */
import { computed, signal } from '@preact/signals';
import { api, type Banner } from '../api/client.ts';
import { dismissedBanner } from './prefs.ts';

/** Browsers wait no longer than this at once. */
const WAIT_MS_MAX = 2 ** 31 - 1;

const told = signal<Banner | null>(null);
const lookedAtMs = signal(Date.now());
let timer: ReturnType<typeof setTimeout> | undefined;

function timesOf({ from, to }: Banner): { readonly fromMs: number; readonly toMs: number } {
  return { fromMs: from === null ? 0 : Date.parse(from), toMs: to === null ? Number.POSITIVE_INFINITY : Date.parse(to) };
}

/** Within its time, and not dismissed in this browser. */
export const shownBanner = computed<Banner | null>(() => {
  const banner = told.value;
  if (banner === null || dismissedBanner.value === banner.text) return null;
  const { fromMs, toMs } = timesOf(banner);
  return fromMs <= lookedAtMs.value && lookedAtMs.value < toMs ? banner : null;
});

export function bannerTold(banner: Banner | null): void {
  told.value = banner;
  look();
}

/** Now, and again when its time begins or ends. */
function look(): void {
  clearTimeout(timer);
  lookedAtMs.value = Date.now();
  const banner = told.peek();
  if (banner === null) return;
  const { fromMs, toMs } = timesOf(banner);
  const next = [fromMs, toMs].find((at) => at > lookedAtMs.peek());
  if (next !== undefined && Number.isFinite(next)) timer = setTimeout(look, Math.min(WAIT_MS_MAX, next - lookedAtMs.peek()));
}

/** For the one screen that has no stream, because it is open to all. */
export async function loadBanner(): Promise<void> {
  try {
    bannerTold((await api.banner.current()).body.banner);
  } catch (error) {
    console.debug('the banner is not known', error);
  }
}

export function bannerIn(data: string): Banner | null {
  const { banner }: { readonly banner?: Banner | null } = JSON.parse(data);
  return banner ?? null;
}
