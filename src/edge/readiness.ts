/** Whether the process accepts work. */
export class Readiness {
  state: 'starting' | 'serving' | 'draining' = 'starting';
}
