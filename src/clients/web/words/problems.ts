/** A problem in words: those of the server where it says what is wrong, else ours. */
import type { Problem } from '../api/problem.ts';
import { words } from './words.ts';

export interface ProblemWords {
  readonly title: string;
  readonly text: string;
}

export function problemWords(problem: Problem): ProblemWords {
  const { problems } = words.value;
  if (problem.isOffline) return problems.offline;
  if (problem.isForbidden) return { title: problems.forbidden.title, text: problem.message };
  if (problem.code === 'VERSION_CONFLICT') return problems.conflict;
  if (problem.status === 429) return { title: problems.busy.title, text: problem.message };
  return { title: problems.other.title, text: [problem.message, problem.hint].filter((part) => part !== undefined).join(' ') };
}
