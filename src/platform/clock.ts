/** The real clock. Everything else that needs time is given one, so that tests can move it. */
import type { Clock } from '../../actors/runtime/ports.ts';

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, run) {
    // A timer of ours never keeps the process alive: only sockets and open work do.
    const timer = setTimeout(run, delayMs).unref();
    return { cancel: () => clearTimeout(timer) };
  },
};
