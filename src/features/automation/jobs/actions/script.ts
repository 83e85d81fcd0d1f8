/** Scripts, in the sandbox. */
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import type { Action, ActionDeps, ActionRun } from './action.ts';

interface ScriptConfig {
  readonly source: string;
  readonly params?: unknown;
}

async function run({ sandbox }: ActionDeps, { job, config, world, signal, events }: ActionRun) {
  const { source, params } = config as unknown as ScriptConfig;
  const given = events === null ? params : { ...(isObject(params) ? params : { value: params }), events };
  const { ok, value, output, error } = await sandbox.run({ source, params: given ?? null, world, signal }, job.artifact_id);
  const said = [output, value === null || value === undefined ? '' : `→ ${value}`].filter((text) => text !== '').join('\n');
  const failed = error === null ? 'The script failed.' : `${error.message}${error.line === undefined ? '' : ` (line ${error.line})`}`;
  return {
    error: ok ? null : failed,
    // A script that cannot be read will not be the next time either.
    isFinal: error?.code === 'SCRIPT_SYNTAX',
    output: cut(said),
  };
}

export const script: Action = { run, rehearse: run };

/** In bytes of UTF-8, not within a character. */
function cut(text: string): string | null {
  if (text === '') return null;
  const bytes = Buffer.from(text.replaceAll('\u0000', '\ufffd'));
  if (bytes.length <= LIMITS.runOutputBytesMax) return bytes.toString('utf8');
  const kept = new TextDecoder('utf-8').decode(bytes.subarray(0, LIMITS.runOutputBytesMax - 32), { stream: true });
  return `${kept}\n… cut at 64 KB`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
