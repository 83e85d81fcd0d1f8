/** Placement for one process: everything lives here and nothing is ever lost. */
import type { Placement } from './ports.ts';

export function localPlacement(): Placement {
  return {
    locate: () => ({ here: true }),
    forget: () => undefined,
    claim: () => true,
    release: () => undefined,
    carry: () => undefined,
    holds: () => true,
    onLost: () => undefined,
    self: () => undefined,
    nodes: () => [],
    onMembership: () => undefined,
    start: () => Promise.resolve(),
    drain: () => Promise.resolve(),
    stop: () => Promise.resolve(),
  };
}
