/** A sandbox for tests, with a world that answers from memory. */
import type { ScriptOutcome, ScriptRun } from '../../../../src/features/automation/scripts/sandbox.ts';
import { type SandboxDeps, ScriptSandbox } from '../../../../src/features/automation/scripts/sandbox.ts';
import {
  bodyOf,
  type ScriptWorld,
  type WorldCall,
  type WorldFetch,
  type WorldReply,
} from '../../../../src/features/automation/scripts/world.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { services } from '../../../support/services.ts';

export class FakeWorld implements ScriptWorld {
  readonly calls: WorldCall[] = [];
  readonly fetches: WorldFetch[] = [];
  reply: (call: WorldCall) => WorldReply | Promise<WorldReply> = () => ({ status: 200, body: { success: true, data: {} } });

  async call(call: WorldCall): Promise<WorldReply> {
    const { bodyText, ...rest } = call;
    this.calls.push(bodyText === undefined ? rest : { ...rest, body: bodyOf(call) });
    return this.reply(call);
  }

  async fetch(request: WorldFetch) {
    this.fetches.push(request);
    return { status: 201, headers: { 'content-type': 'application/json' }, body: '{"a":1}', url: request.url };
  }
}

/** Errors that the sandbox has logged. */
export const logged: unknown[] = [];

export function newSandbox(more: Partial<SandboxDeps> = {}): ScriptSandbox {
  const log = { error: (details: object) => void logged.push(details) };
  return new ScriptSandbox({ builtDir: services().builtDir, clock: systemClock, log, ...more });
}

export function running(sandbox: ScriptSandbox) {
  return (source: string, more: Partial<ScriptRun> = {}, share = 'a'): Promise<ScriptOutcome> =>
    sandbox.run({ source, params: null, world: new FakeWorld(), ...more }, share);
}
