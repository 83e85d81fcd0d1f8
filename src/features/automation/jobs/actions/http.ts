/** Calls of `webhook` and `http_get` to the outside. */

import { dateTime } from '../../../../platform/date-time.ts';
import type { WorldFetched } from '../../scripts/world.ts';
import { signedHeaders } from '../../webhooks/sign.ts';
import type { Action, ActionOutcome, ActionRun } from './action.ts';

const EXCERPT_CHARS = 2000;

interface HttpConfig {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly secret?: string;
  readonly data?: unknown;
  readonly save_key?: string;
}

export const webhook: Action = {
  async run({ clock }, run) {
    const { url, headers = {}, secret, data } = run.config as unknown as HttpConfig;
    const body = JSON.stringify({
      type: 'job.run',
      run_id: run.id,
      job_id: run.job.id,
      artifact_id: run.job.artifact_id,
      trigger: run.trigger,
      scheduled_for: dateTime(run.scheduledForMs),
      attempt: run.attempt,
      ...(run.events !== null && { events: run.events }),
      ...(data !== undefined && { data }),
    });
    const signed =
      secret === undefined ? {} : signedHeaders({ id: run.id, secrets: [secret], timestampS: Math.floor(clock.nowMs() / 1000), body });
    const sent = { ...lowercase(headers), 'content-type': 'application/json', 'user-agent': 'Easel-Jobs', ...signed };
    return told(await run.world.fetch({ method: 'POST', url, headers: sent, body }));
  },
  async rehearse(_deps, run) {
    const { url } = run.config as unknown as HttpConfig;
    await run.world.fetch({ method: 'POST', url, headers: {} });
    return { error: null, output: null };
  },
};

export const httpGet: Action = {
  async run(_deps, run) {
    const { url, headers = {}, save_key } = run.config as unknown as HttpConfig;
    const reply = await run.world.fetch({ method: 'GET', url, headers: { 'user-agent': 'Easel-Jobs', ...lowercase(headers) } });
    const outcome = told(reply);
    if (outcome.error !== null || save_key === undefined) return outcome;
    const error = await saved(run, save_key, reply);
    return { ...outcome, error };
  },
  async rehearse(_deps, run) {
    const { url, save_key } = run.config as unknown as HttpConfig;
    const reply = await run.world.fetch({ method: 'GET', url, headers: {} });
    return { error: save_key === undefined ? null : await saved(run, save_key, reply), output: null };
  },
};

async function saved({ world }: ActionRun, key: string, reply: WorldFetched): Promise<string | null> {
  const { status, body } = await world.call({ method: 'PUT', path: `/json/${encodeURIComponent(key)}`, body: storedValue(reply) });
  return status < 300 ? null : `The answer could not be stored under ${key}: ${messageOf(body, status)}`;
}

function storedValue({ headers, body }: WorldFetched): unknown {
  if (!/[/+]json\b/.test(headers['content-type'] ?? '')) return body;
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

export function messageOf(body: unknown, status: number): string {
  const { error } = (body ?? {}) as { error?: unknown };
  return typeof error === 'string' ? error : `it answered ${status}.`;
}

function told({ status, body }: WorldFetched): ActionOutcome {
  const output = `${status}\n${body.slice(0, EXCERPT_CHARS)}`;
  return { error: status >= 200 && status < 300 ? null : `The host answered ${status}.`, output };
}

function lowercase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
