/** What an action is given, and what it answers. */
import type { JobId, UserId } from '../../../../../protocol/core/ids.ts';
import type { Transaction } from '../../../../storage/sql.ts';
import type { ConnectionUse } from '../../../library/connections/use.ts';
import type { ModuleDeps } from '../../../module.ts';
import type { Accounts } from '../../../people/accounts/rules.ts';
import type { ScriptSandbox } from '../../scripts/sandbox.ts';
import type { ScriptWorld } from '../../scripts/world.ts';
import type { JobRow } from '../rows.ts';
import type { RunChange, RunEvents } from '../runs.ts';

export interface ActionDeps extends ModuleDeps {
  readonly sandbox: ScriptSandbox;
  readonly mail: { wake(): void };
  readonly connections: ConnectionUse;
}

export interface ActionRun {
  readonly id: string;
  readonly job: JobRow;
  /** With its secrets. Checked against the schema of its action when it was stored. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly trigger: string;
  /** Unix ms. */
  readonly scheduledForMs: number;
  readonly attempt: number;
  readonly events: RunEvents | null;
  /** In whose name it runs. */
  readonly userId: UserId;
  /** Of that person. */
  readonly accounts: Accounts;
  /** The jobs by whose changes it came to this run, its own last. */
  readonly chain: readonly JobId[];
  readonly world: ScriptWorld & { note?(change: RunChange): void };
  readonly signal: AbortSignal;
}

export interface ActionOutcome {
  /** Null where it has succeeded. */
  readonly error: string | null;
  /** Trying again cannot help. */
  readonly isFinal?: boolean;
  readonly output: string | null;
  /** What happens in the transaction that records the outcome, so that it happens once. Throws `Failure`. */
  readonly record?: (tx: Transaction) => Promise<void>;
  /** Called after that transaction. */
  readonly recorded?: () => void;
}

/** What a rehearsal would have sent. */
export interface WouldSend {
  readonly to: readonly string[];
  readonly subject: string;
  /** Names of the files that go along. */
  readonly attachments: readonly string[];
}

export interface Action {
  run(deps: ActionDeps, run: ActionRun): Promise<ActionOutcome>;
  /** What it would send, apart from what its world sees. Changes nothing. */
  rehearse(deps: ActionDeps, run: ActionRun): Promise<Pick<ActionOutcome, 'error' | 'output'> & { readonly send?: readonly WouldSend[] }>;
}
