/** Runs the steps of a provisioning one after the other: each in a transaction of its own, with its audit row, and reported whatever becomes of it. */
import type { z } from 'zod';
import type { UserPrincipal } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { UserId } from '../../../../protocol/core/ids.ts';
import type { provisionedStep } from '../../../../protocol/workspaces/provisioning.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { type AuditedCall, audit } from '../audit/audit.ts';
import type { WorkspaceRow } from '../workspaces/rows.ts';

export type StepReport = z.input<typeof provisionedStep>;
export type StepResult = Omit<StepReport, 'step'>;

/** The call of an administrator of the installation. */
export type Provisioner = AuditedCall & { readonly principal: UserPrincipal; readonly user: UserId };

type Deps = Pick<ServiceDeps, 'sql' | 'log'>;
type Subject = Pick<WorkspaceRow, 'id' | 'name'>;

export class Steps {
  readonly #deps: Deps;
  readonly #by: Provisioner;
  readonly #workspace: Subject;
  readonly reports: StepReport[] = [];

  constructor(deps: Deps, by: Provisioner, workspace: Subject) {
    this.#deps = deps;
    this.#by = by;
    this.#workspace = workspace;
  }

  async run(step: string, work: (tx: Queries) => Promise<StepResult>): Promise<void> {
    await this.#report(step, async () => {
      // In a list, because the types of the client would unwrap what is returned bare.
      const [done] = await this.#deps.sql.begin(async (tx) => {
        const result = await work(tx);
        await this.record(tx, step, result);
        return [result] as const;
      });
      return done;
    });
  }

  /** For work that has transactions of its own. */
  async runApart(step: string, work: () => Promise<StepResult>): Promise<void> {
    await this.#report(step, async () => {
      const result = await work();
      await this.record(this.#deps.sql, step, result);
      return result;
    });
  }

  async #report(step: string, work: () => Promise<StepResult>): Promise<void> {
    const result = await work().catch(async (error) => {
      const failed = this.#failed(step, error);
      // The transaction of the step is gone, and its row with it.
      await this.record(this.#deps.sql, step, failed).catch((err) => this.#deps.log.error({ err, step }, 'a failed step is not audited'));
      return failed;
    });
    this.reports.push({ step, ...result });
  }

  async record(tx: Queries, step: string, { status, detail, error }: StepResult): Promise<void> {
    const { id, name } = this.#workspace;
    const said = { status, ...detail, ...(error !== undefined && { error }) };
    const target = { type: 'workspace', id, name };
    await audit(tx, this.#by, { workspaceId: id, action: `workspace.provision.${step}`, target, detail: said });
  }

  #failed(step: string, error: unknown): StepResult {
    if (error instanceof Failure) return failedBy(error);
    // What the database says may quote what was sent, so nothing of it is shown or audited, and the log has no parameters.
    this.#deps.log.error({ step, requestId: this.#by.requestId, reason: nameOf(error) }, 'a step of a provisioning failed');
    return {
      status: 'failed',
      detail: {},
      error: 'Something failed on our side.',
      next_step: `Run the same request again; if it keeps failing, look into the log for the request ${this.#by.requestId}.`,
    };
  }
}

function failedBy(failure: Failure): StepResult {
  const hint = failure.details.hint;
  return {
    status: 'failed',
    detail: { code: failure.code },
    error: failure.message,
    next_step: hint ?? 'Correct this and run the same request again.',
  };
}

function nameOf(error: unknown): string {
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
  return String(code ?? name ?? 'unknown');
}
