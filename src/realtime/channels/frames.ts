/** Reads the frames of clients of …/channels and writes those for them. */
import { ERRORS, Failure, wireCodeOf } from '../../../protocol/core/errors.ts';
import { readInput } from '../../../protocol/core/issues.ts';
import { type ClientFrame, clientFrame, type ServerFrame } from '../../../protocol/data/realtime.ts';
import { parseJsonDocument } from '../../edge/json-document.ts';
import type { ChangeEvent } from '../../features/data/changes/events.ts';

/** `id` is the client's own, and is read even where the rest of the frame is malformed. */
export type ReadFrame = { readonly frame: ClientFrame } | { readonly failure: Failure; readonly id: string | undefined };

/** `data` is not kept beyond the call. */
export function readFrame(data: ArrayBuffer): ReadFrame {
  let value: unknown;
  try {
    value = parseJsonDocument(new Uint8Array(data)).value;
  } catch (error) {
    if (error instanceof Failure) return { failure: error, id: undefined };
    throw error;
  }
  const { value: frame, issues } = readInput(clientFrame, value);
  if (issues === undefined) return { frame };
  const [issue] = issues;
  const param = issue?.path ?? '';
  const message = param === '' ? 'A frame must be a JSON object with a type.' : `${param} ${issue?.message ?? 'is not valid'}.`;
  return { failure: new Failure('INVALID_REQUEST', { message, param }), id: idOf(value) };
}

function idOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('id' in value)) return undefined;
  return typeof value.id === 'string' ? value.id.slice(0, 64) : undefined;
}

export function frameText(frame: ServerFrame): string {
  return JSON.stringify(frame);
}

export function errorText({ code, message, details }: Failure, id: string | undefined): string {
  const catalogued: { readonly status: number; readonly hint?: string } = ERRORS[code];
  const hint = details.hint ?? catalogued.hint;
  return frameText({
    type: 'error',
    code: wireCodeOf(code),
    error: message,
    ...(hint !== undefined && { hint }),
    ...(id !== undefined && { id }),
  });
}

const EVENT_FRAMES = new WeakMap<ChangeEvent, string>();

/** The text of an event frame, encoded once for all its receivers. */
export function eventText(event: ChangeEvent): string {
  let text = EVENT_FRAMES.get(event);
  if (text === undefined) {
    text = `{"type":"event","channel":"${event.type}",${event.json.slice(1)}`;
    EVENT_FRAMES.set(event, text);
  }
  return text;
}
