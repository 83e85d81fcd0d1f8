/** The comments of a page: open ones, one's own, those that are assigned; they are resolved and answered here too. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Artifact, api, type Comment, type Person } from '../../api/client.ts';
import { problemOf } from '../../api/problem.ts';
import { useDraft } from '../../state/drafts.ts';
import { commentsChanged, markRead } from '../../state/inbox.ts';
import { useComments, usePeople } from '../../state/loads.ts';
import { showAtOnce } from '../../state/store.ts';
import { optimistic, tellProblem } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { AreaField } from '../../ui/fields.tsx';
import { Menu } from '../../ui/menu.tsx';
import { Avatar, Tag, Time } from '../../ui/small.tsx';
import { Empty, ProblemState, Skeleton } from '../../ui/states.tsx';
import { ago } from '../../words/format.ts';
import { words } from '../../words/words.ts';
import { mayEdit } from './rights.ts';

type Filter = 'open' | 'mine' | 'assigned' | 'resolved';
const FILTERS: readonly Filter[] = ['open', 'mine', 'assigned', 'resolved'];

interface PartProps {
  readonly artifact: Artifact;
  /** The thread that a link leads to. */
  readonly meant: string | undefined;
}

export function CommentsPart({ artifact, meant }: PartProps) {
  const [chosen, setFilter] = useState<Filter>();
  const comments = useComments(artifact.id);
  const people = usePeople(artifact.id);
  const { comments: said } = words.value;
  useReadMark(artifact.id, comments.data);
  const { data, problem } = comments;
  if (data === undefined) {
    if (problem?.code === 'COMMENTS_DISABLED') return <Empty icon="comment" {...said.off} />;
    return problem === undefined ? <Skeleton shape="line" count={3} /> : <ProblemState problem={problem} onRetry={comments.reload} />;
  }
  const filter = chosen ?? (data.some(({ id, resolved }) => id === meant && resolved) ? 'resolved' : 'open');
  const mine = new Set(people.data?.you.ids ?? []);
  const fits = (comment: Comment) => {
    const isMine = (id: string | null) => id !== null && mine.has(id);
    switch (filter) {
      case 'open':
        return !comment.resolved;
      case 'mine':
        return isMine(comment.authorId) || data.some((reply) => reply.parentId === comment.id && isMine(reply.authorId));
      case 'assigned':
        return isMine(comment.assigneeUserId) && !comment.resolved;
      case 'resolved':
        return comment.resolved;
      default:
        return filter satisfies never;
    }
  };
  const threads = data.filter(({ parentId }) => parentId === null).filter(fits);
  return (
    <div class="narrow">
      <fieldset class="segments" aria-label={said.filter}>
        {FILTERS.map((one) => (
          <button key={one} type="button" class="segment" aria-pressed={one === filter} onClick={() => setFilter(one)}>
            {said.filters[one]}
          </button>
        ))}
      </fieldset>
      {threads.length === 0 && <Empty icon="comment" {...said.empty[filter]} />}
      <ul class="threads">
        {threads.map((comment) => (
          <Thread
            key={comment.id}
            artifact={artifact}
            comment={comment}
            replies={data.filter(({ parentId }) => parentId === comment.id)}
            people={people.data?.people ?? []}
            isMeant={comment.id === meant}
          />
        ))}
      </ul>
      <Composer artifactId={artifact.id} label={said.write} />
    </div>
  );
}

/** What is shown in a window that is looked at is read. */
function useReadMark(artifactId: string, shown: readonly Comment[] | undefined): void {
  const latestSeq = shown?.reduce((latest, { seq }) => Math.max(latest, seq), 0) ?? 0;
  useEffect(() => {
    if (latestSeq > 0 && document.visibilityState === 'visible') void markRead([artifactId]);
  }, [artifactId, latestSeq]);
}

interface ThreadProps {
  readonly artifact: Artifact;
  readonly comment: Comment;
  readonly replies: readonly Comment[];
  readonly people: readonly Person[];
  readonly isMeant: boolean;
}

function changeComment(artifactId: string, id: string, change: Partial<Comment>): () => void {
  return showAtOnce<readonly Comment[]>(`comments:${artifactId}`, (all) =>
    all.map((comment) => (comment.id === id ? { ...comment, ...change } : comment)),
  );
}

function Thread({ artifact, comment, replies, people, isMeant }: ThreadProps) {
  const [isReplying, setReplying] = useState(false);
  const thread = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (!isMeant) return;
    thread.current?.scrollIntoView({ block: 'center' });
    thread.current?.focus({ preventScroll: true });
  }, [isMeant]);
  const { comments: said } = words.value;
  const { id, resolved, resolvedAt, assigneeUserId, dueAt, quote, outdated } = comment;
  const params = { artifactId: artifact.id, commentId: id };
  const resolve = async () => {
    const undo = changeComment(artifact.id, id, { resolved: !resolved });
    await optimistic(undo, () => api.comments.resolve({ params, body: { resolved: !resolved } }));
    commentsChanged(artifact.id);
  };
  const assign = async (userId: string | null) => {
    const undo = changeComment(artifact.id, id, { assigneeUserId: userId });
    await optimistic(undo, () => api.comments.assign({ params, body: { assigneeUserId: userId } }));
    commentsChanged(artifact.id);
  };
  const nameOf = (userId: string) => people.find((person) => person.userId === userId)?.name ?? said.anonymous;
  return (
    <li class={isMeant ? 'thread is-meant' : 'thread'} ref={thread} tabIndex={isMeant ? -1 : undefined}>
      {quote !== null && <blockquote class="thread-quote">{quote.exact}</blockquote>}
      <Said comment={comment} />
      {replies.map((reply) => (
        <div key={reply.id} class="thread-reply">
          <Said comment={reply} />
        </div>
      ))}
      <p class="row tags">
        {outdated && <Tag tone="warn">{said.outdated}</Tag>}
        {assigneeUserId !== null && <Tag icon="person">{said.assignedTo(nameOf(assigneeUserId))}</Tag>}
        {dueAt !== null && <Tag icon="clock">{said.due(ago(dueAt))}</Tag>}
        {resolved && resolvedAt !== null && (
          <Tag tone="good" icon="check">
            {said.resolvedBy(ago(resolvedAt))}
          </Tag>
        )}
      </p>
      <div class="row tight">
        <Button small icon={resolved ? 'restore' : 'check'} onClick={() => void resolve()}>
          {resolved ? said.reopen : said.resolve}
        </Button>
        {!isReplying && (
          <Button small onClick={() => setReplying(true)}>
            {said.reply}
          </Button>
        )}
        {mayEdit(artifact) && people.length > 0 && (
          <Menu
            label={said.assign}
            class="btn btn-second btn-small"
            placement="bottom-start"
            items={() =>
              [null, ...people].map((person) => ({
                kind: 'choice' as const,
                label: person === null ? said.nobody : (person.name ?? person.username ?? person.userId),
                isChosen: (person?.userId ?? null) === assigneeUserId,
                run: () => void assign(person?.userId ?? null),
              }))
            }
          >
            {said.assign}
          </Menu>
        )}
      </div>
      {isReplying && <Composer artifactId={artifact.id} parentId={id} label={said.reply} onSent={() => setReplying(false)} />}
    </li>
  );
}

function Said({ comment }: { readonly comment: Comment }) {
  const name = comment.authorName ?? words.value.comments.anonymous;
  return (
    <div class="said">
      <Avatar name={name} />
      <div class="grow">
        <p class="said-head">
          <strong>{name}</strong> <Time at={comment.createdAt} />
        </p>
        <p class="said-text">{comment.content}</p>
      </div>
    </div>
  );
}

interface ComposerProps {
  readonly artifactId: string;
  readonly parentId?: string;
  readonly label: string;
  readonly onSent?: () => void;
}

function Composer({ artifactId, parentId, label, onSent }: ComposerProps) {
  const [content, type] = useDraft(`comment:${artifactId}:${parentId ?? ''}`, '');
  const [isBusy, setBusy] = useState(false);
  const { comments: said } = words.value;
  const send = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      const body = { content: content.trim(), ...(parentId !== undefined && { parentId }) };
      await api.comments.create({ params: { artifactId }, body });
      type('');
      commentsChanged(artifactId);
      onSent?.();
    } catch (error) {
      tellProblem(problemOf(error));
    }
    setBusy(false);
  };
  return (
    <form class="composer" onSubmit={send}>
      <AreaField label={label} value={content} onText={type} rows={2} maxLength={10_000} autoFocus={parentId !== undefined} />
      <Button type="submit" look="main" isBusy={isBusy} disabled={content.trim() === ''}>
        {said.send}
      </Button>
    </form>
  );
}
