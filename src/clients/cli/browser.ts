/** Opens an address in the user's browser, if there is one. */
import { spawn } from 'node:child_process';
import type { Shell } from './session.ts';

const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  // rundll32 and not `start`, because cmd treats "&" in an address as the end of the command.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Resolves with true if a browser was started. Only http(s) addresses are opened, because the address comes from a server. */
export function openBrowser(url: string, env: Shell['env']): Promise<boolean> {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) return Promise.resolve(false);
  const hasDesktop = process.platform in OPENERS || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY);
  if (!hasDesktop) return Promise.resolve(false);
  const [command, ...before] = OPENERS[process.platform] ?? ['xdg-open'];
  return new Promise((resolve) => {
    const child = spawn(command, [...before, url], { stdio: 'ignore', detached: true });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}
