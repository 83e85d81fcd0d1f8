/** How Chromium is started for one page of a stranger. */

export const VIEW = { width: 1280, height: 800 } as const;

/** Of one JavaScript heap. */
const HEAP_MB_MAX = 128;

const WITHOUT_NETWORK = [
  // No name is found and no address is connected to: every request goes through a proxy that does not exist, those to this machine too.
  '--host-resolver-rules=MAP * ~NOTFOUND',
  '--proxy-server=http://proxy.invalid:1',
  '--proxy-bypass-list=<-loopback>',
  '--disable-quic',
  // WebRTC is the one part that would send packets past the proxy.
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-domain-reliability',
  '--disable-sync',
  '--no-pings',
  '--dns-prefetch-disable',
];

const WITHOUT_EXTRAS = [
  '--block-new-web-contents',
  '--deny-permission-prompts',
  '--disable-notifications',
  '--disable-extensions',
  '--disable-default-apps',
  '--disable-gpu',
  '--disable-3d-apis',
  '--disable-breakpad',
  '--disable-crash-reporter',
  '--disable-dev-shm-usage',
  '--disable-print-preview',
  '--disable-speech-api',
  '--disable-features=DialMediaRouteProvider,MediaRouter,OptimizationHints,Prerender2,Translate',
  '--hide-scrollbars',
  '--metrics-recording-only',
  '--mute-audio',
  '--no-default-browser-check',
  '--no-first-run',
  '--password-store=basic',
  '--use-mock-keychain',
];

export function flagsFor(profile: string, sandboxed: boolean): string[] {
  return [
    '--headless',
    '--remote-debugging-pipe',
    `--user-data-dir=${profile}`,
    `--window-size=${VIEW.width},${VIEW.height}`,
    `--js-flags=--max-old-space-size=${HEAP_MB_MAX}`,
    ...WITHOUT_NETWORK,
    ...WITHOUT_EXTRAS,
    ...(sandboxed ? [] : ['--no-sandbox']),
    'about:blank',
  ];
}
