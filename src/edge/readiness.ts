/** Whether the process may be given work. */
export class Readiness {
  state: 'starting' | 'serving' | 'draining' = 'starting';
}
