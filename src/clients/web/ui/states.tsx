/** What a screen shows where it has nothing to show: empty, loading, refused, offline. */
import type { ComponentChildren } from 'preact';
import type { Problem } from '../api/problem.ts';
import { type ProblemWords, problemWords, supportAddress } from '../words/problems.ts';
import { words } from '../words/words.ts';
import { Button, LinkButton } from './button.tsx';
import { Code } from './copy.tsx';
import { Icon, type IconName } from './icon.tsx';

interface EmptyProps {
  readonly icon: IconName;
  readonly title: string;
  readonly text: string;
  /** The same by command line. */
  readonly command?: string;
  readonly children?: ComponentChildren;
}

export function Empty({ icon, title, text, command, children }: EmptyProps) {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon name={icon} size={26} />
      </span>
      <h2>{title}</h2>
      <p>{text}</p>
      {children && <div class="row center">{children}</div>}
      {command !== undefined && (
        <div class="empty-command">
          <p class="small soft">{words.value.app.byCommand}</p>
          <Code text={command} />
        </div>
      )}
    </div>
  );
}

interface ProblemProps {
  readonly problem: Problem;
  readonly onRetry?: (() => void) | undefined;
  /** Words for what is missing here, in place of the general ones. */
  readonly missing?: { readonly title: string; readonly text: string };
  readonly forbidden?: { readonly title: string; readonly text: string };
}

export function ProblemState({ problem, onRetry, missing, forbidden }: ProblemProps) {
  const own = problem.isMissing ? (missing ?? words.value.problems.missing) : problem.isForbidden ? forbidden : undefined;
  const { title, text, link }: ProblemWords = own ?? problemWords(problem);
  const icon = problem.isOffline ? 'offline' : problem.isMissing ? 'search' : problem.isForbidden ? 'lock' : 'alert';
  return (
    <div class="empty" role="alert">
      <span class="empty-icon">
        <Icon name={icon} size={26} />
      </span>
      <h2>{title}</h2>
      <p>{text}</p>
      {onRetry && !problem.isMissing && !problem.isForbidden && (
        <div class="row center">
          <Button onClick={onRetry}>{words.value.app.retry}</Button>
        </div>
      )}
      {link && (
        <div class="row center">
          <LinkButton look="main" href={link.href}>
            {link.label}
          </LinkButton>
        </div>
      )}
      {(problem.isMissing || problem.isForbidden) && (
        <div class="row center">
          <LinkButton href="/">{words.value.nav.mine}</LinkButton>
        </div>
      )}
      {problem.faultOf !== undefined && (
        <p class="small">
          <a href={supportAddress(problem.faultOf)}>{words.value.support.write}</a>
        </p>
      )}
      {problem.requestId !== undefined && <p class="small soft">{words.value.app.request(problem.requestId)}</p>}
    </div>
  );
}

/** The same in one line, where there is more around it than what could not be loaded. */
export function ProblemNote({ problem, onRetry }: Pick<ProblemProps, 'problem' | 'onRetry'>) {
  const { title, text, link } = problemWords(problem);
  return (
    <div class="notice bad" role="alert">
      <p>
        {title} {text} {link && <a href={link.href}>{link.label}</a>}
      </p>
      {onRetry && !problem.isMissing && !problem.isForbidden && (
        <p class="row">
          <Button small onClick={onRetry}>
            {words.value.app.retry}
          </Button>
        </p>
      )}
    </div>
  );
}

/** Grey shapes in the places of what is coming. Screen readers hear one word. */
export function Skeleton({ shape, count }: { readonly shape: 'card' | 'line' | 'block'; readonly count: number }) {
  return (
    <div class={`skeletons of-${shape}`} role="status">
      <span class="unseen">{words.value.app.loading}</span>
      {Array.from({ length: count }, (_, at) => (
        <div key={at} class={`skeleton is-${shape}`} />
      ))}
    </div>
  );
}

interface LoadedProps<T> {
  readonly of: { readonly data: T | undefined; readonly problem: Problem | undefined; reload(): void };
  readonly shape?: 'card' | 'line' | 'block';
  readonly missing?: { readonly title: string; readonly text: string };
  readonly forbidden?: { readonly title: string; readonly text: string };
  readonly children: (data: T) => ComponentChildren;
}

/** What is loaded, or why not. Old contents stay while they are loaded again, and with a note where that fails. */
export function Loaded<T>({ of, shape = 'line', missing, forbidden, children }: LoadedProps<T>) {
  if (of.data !== undefined) return <>{children(of.data)}</>;
  if (of.problem !== undefined)
    return <ProblemState problem={of.problem} onRetry={of.reload} {...(missing && { missing })} {...(forbidden && { forbidden })} />;
  return <Skeleton shape={shape} count={shape === 'card' ? 8 : shape === 'line' ? 5 : 2} />;
}
