/** A problem in words: those of the server where it says what is wrong, else ours. */
import type { Problem } from '../api/problem.ts';
import { words } from './words.ts';

export interface ProblemWords {
  readonly title: string;
  readonly text: string;
  /** A screen where something can be done about it. */
  readonly link?: { readonly label: string; readonly href: string } | undefined;
}

/** Where a ticket about a failed request is written. */
export function supportAddress(requestId: string): string {
  return `/my/support?request=${encodeURIComponent(requestId)}`;
}

export function problemWords(problem: Problem): ProblemWords {
  const { problems } = words.value;
  const link = linkOf(problem);
  if (problem.isOffline) return problems.offline;
  if (link !== undefined)
    return { title: problems.plan.title, text: [problem.message, withoutAddress(problem.hint ?? '')].join(' '), link };
  if (problem.isForbidden) return { title: problems.forbidden.title, text: problem.message };
  if (problem.code === 'VERSION_CONFLICT') return problems.conflict;
  if (problem.status === 429) return { title: problems.busy.title, text: problem.message };
  return { title: problems.other.title, text: [problem.message, problem.hint].filter((part) => part !== undefined).join(' ') };
}

/** What the server calls the address of a screen in its hints, which are for programs too. */
const ADDRESS_NAME = 'redirect_url';

/** Where the hint sends the reader there. The address is one of ours; the app goes by its path, also behind another name of the host. */
function linkOf({ redirectUrl, hint }: Problem): ProblemWords['link'] {
  if (redirectUrl === undefined || !hint?.includes(ADDRESS_NAME) || !URL.canParse(redirectUrl, location.href)) return undefined;
  const { pathname, search, hash } = new URL(redirectUrl, location.href);
  return { label: words.value.problems.plan.link, href: `${pathname}${search}${hash}` };
}

/** The sentences of a hint without those that name the address: a link stands for them. */
function withoutAddress(hint: string): string {
  return hint
    .split(/(?<=[.!?]) /)
    .filter((sentence) => !sentence.includes(ADDRESS_NAME))
    .join(' ');
}
