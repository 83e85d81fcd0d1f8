/** Questions that are answered from pages: of all that the caller may open, or of one artifact alone. Source: spec.md, "Search and ask"; contract.md §16. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { storedText } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { absentOrNull } from '../core/round-trip.ts';
import { enveloped } from '../data/json-keys.ts';
import { workspaceRef } from '../workspaces/access.ts';

export const citation = z.object({
  artifact_id: idSchema('artifact'),
  title: z.string(),
  url: z.string(),
  quote: z.string().meta({ description: 'what the passage says, word for word' }),
});

export const answerMode = z
  .enum(['extractive', 'generated'])
  .meta({ description: 'extractive: passages as they are; generated: written by a model from the passages' });

export const answered = z.object({
  answer: z.string().meta({ description: 'plain text; [1] is the first citation' }),
  citations: z.array(citation),
  mode: answerMode,
});

const question = storedText(LIMITS.askQuestionCharsMax).trim().min(1);
export const ask = z.strictObject({ question, workspace: absentOrNull(workspaceRef) });
export const agentQuestion = z.strictObject({
  question,
  history: absentOrNull(
    z.array(z.strictObject({ role: z.enum(['user', 'assistant']), text: storedText(LIMITS.askHistoryCharsMax) })).max(LIMITS.askHistoryMax),
  ).meta({
    description:
      "what was said before, oldest first; passages are also looked for with the last earlier question of the user, and come after the question's own",
  }),
});

const stream = {
  status: 200,
  media: 'text/event-stream',
  description:
    'By Accept: text/event-stream. Events `text` {text}, a piece of the answer, then one `done` with the answer, its citations and its mode. Its answer replaces the pieces where the model has failed on the way.',
} as const;

export const asking = {
  'ask.ask': endpoint({
    method: 'POST',
    path: '/v1/ask',
    group: 'ask',
    summary:
      'Answers a question from pages that the caller may open, with citations. Without a model, or where it does not answer, the best passages as they are. Nothing is stored.',
    access: { who: 'account', scope: 'artifacts:read' },
    limit: 'ask',
    reads: true,
    body: { kind: 'json', schema: ask, bytesMax: LIMITS.askBodyBytesMax },
    replies: { ok: { status: 200, body: answered }, stream },
    errors: ['SWITCHED_OFF', 'FORBIDDEN'],
  }),
  'ask.agent': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/agent',
    group: 'ask',
    summary:
      'The same from this artifact alone: its page, tables, datasets and documents. Visitors where it has allow_anon_agent, so many times an hour.',
    access: { who: 'artifact', param: 'artifactId', need: 'data:read', scope: 'data:read' },
    limit: 'data',
    actor: 'artifactId',
    reads: true,
    params: z.object({ artifactId: idSchema('artifact') }),
    body: { kind: 'json', schema: agentQuestion, bytesMax: LIMITS.askBodyBytesMax },
    replies: { ok: { status: 200, body: enveloped(answered) }, stream },
    errors: ['SWITCHED_OFF', 'FORBIDDEN', 'RATE_LIMITED'],
  }),
} as const;
