/** `easel.agent` */
import type { Agent } from './api-outside.ts';
import { EaselError, parse } from './errors.ts';
import { tell } from './listeners.ts';
import type { Transport } from './transport.ts';
import type { AgentAnswer } from './wire.ts';

export function askerOf(transport: Transport): Agent['ask'] {
  return async (question, { history, onText, signal } = {}) => {
    const request = { method: 'POST', path: '/agent', body: { question, history }, reads: true, signal } as const;
    if (onText === undefined) return transport.call<AgentAnswer>(request);
    const response = await transport.pass({ ...request, accept: 'text/event-stream' }, ({ ok }) => ok);
    let text = '';
    for await (const { event, data } of eventsOf(response)) {
      if (event === 'done') return data as unknown as AgentAnswer;
      text += data.text;
      tell(onText, text);
    }
    throw broken();
  };
}

async function* eventsOf({ body }: Response) {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (let read = await reader?.read(); read?.value; read = await reader?.read()) {
      const blocks = (rest + decoder.decode(read.value, { stream: true })).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const [, event, data = ''] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? [];
        yield { event, data: parse(data) as { readonly text: string } };
      }
    }
  } finally {
    void reader?.cancel().catch(() => undefined);
  }
}

function broken(): EaselError {
  return new EaselError({ code: 'NETWORK_ERROR', status: 0, message: 'The answer ended early.', hint: 'Ask again.' });
}
