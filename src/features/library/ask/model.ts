/** A model behind an OpenAI-compatible API. It is one that the operator has configured, so that it is called plainly, wherever it is. */
import { LIMITS } from '../../../../protocol/core/limits.ts';

export interface ModelSettings {
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey: string | undefined;
}

export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** The model gave no usable answer. Says nothing of what was asked. */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure';
}

const TOKENS_MAX = 1000;

/** Pieces of the answer as they come. Throws ModelFailure, and the reason of `signal`. */
export async function* chat(settings: ModelSettings, messages: readonly Message[], signal: AbortSignal): AsyncGenerator<string> {
  const reply = await open(settings, messages, signal);
  try {
    if (!reply.ok || reply.body === null) throw new ModelFailure(`the model answered with the status ${reply.status}`);
    let isOver = false;
    // Node's streams can be iterated, which the types of the web do not know.
    for await (const data of eventsOf(reply.body as unknown as AsyncIterable<Uint8Array>)) {
      if (data === '[DONE]') {
        isOver = true;
        break;
      }
      const { text, ends } = pieceOf(data);
      if (text !== '') yield text;
      isOver ||= ends;
    }
    if (!isOver) throw new ModelFailure('the answer of the model ended early');
  } finally {
    await reply.body?.cancel().catch(() => undefined);
  }
}

async function open({ baseUrl, model, apiKey }: ModelSettings, messages: readonly Message[], signal: AbortSignal): Promise<Response> {
  const init = {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
    },
    body: JSON.stringify({ model, messages, stream: true, temperature: 0, max_tokens: TOKENS_MAX }),
    redirect: 'error',
    signal,
  } as const;
  try {
    return await fetch(`${baseUrl.replace(/\/+$/, '')}/chat/completions`, init);
  } catch (error) {
    signal.throwIfAborted();
    throw new ModelFailure('the model cannot be reached', { cause: error });
  }
}

/** The data of server-sent events, of one line each, as these APIs send them. */
async function* eventsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r?\n/);
    rest = lines.pop() ?? '';
    if (rest.length > LIMITS.askModelLineCharsMax) throw new ModelFailure('the model sends lines without an end');
    for (const line of lines) if (line.startsWith('data:')) yield line.slice(5).trim();
  }
  if (rest.startsWith('data:')) yield rest.slice(5).trim();
}

interface Chunk {
  readonly choices?: readonly { readonly delta?: { readonly content?: unknown }; readonly finish_reason?: unknown }[];
}

function pieceOf(data: string): { readonly text: string; readonly ends: boolean } {
  try {
    const choice = (JSON.parse(data) as Chunk | null)?.choices?.[0];
    const content = choice?.delta?.content;
    return { text: typeof content === 'string' ? content : '', ends: typeof choice?.finish_reason === 'string' };
  } catch (error) {
    throw new ModelFailure('the model sends something else than JSON', { cause: error });
  }
}
