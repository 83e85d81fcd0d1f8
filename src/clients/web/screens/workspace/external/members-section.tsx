/** The people of a client organisation. */
import { useState } from 'preact/hooks';
import { api, type ExternalMember, type Sharee } from '../../../api/client.ts';
import { problemOf } from '../../../api/problem.ts';
import type { PageOf } from '../../../state/pages.ts';
import { useShareeMembers } from '../../../state/sharees.ts';
import { changed, showAtOnce } from '../../../state/store.ts';
import { optimistic, tell } from '../../../state/toasts.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { Confirm } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/fields.tsx';
import { Avatar } from '../../../ui/small.tsx';
import { ProblemNote, Skeleton } from '../../../ui/states.tsx';
import { ago } from '../../../words/format.ts';
import { problemWords } from '../../../words/problems.ts';
import { words } from '../../../words/words.ts';
import { More } from '../../more.tsx';
import { addressProblem } from '../../share/addresses.ts';
import { TokensDialog } from './tokens-dialog.tsx';

interface MembersSectionProps {
  readonly slug: string;
  readonly sharee: Sharee;
  readonly mayShare: boolean;
}

export function MembersSection({ slug, sharee, mayShare }: MembersSectionProps) {
  const pages = useShareeMembers(slug, sharee.id);
  const { external } = words.value;
  const { items, problem } = pages;
  return (
    <section class="part" aria-labelledby="externals">
      <div class="section-head">
        <h3 id="externals" class="grow" tabIndex={-1}>
          {external.people}
        </h3>
      </div>
      {mayShare && <AddForm slug={slug} shareeId={sharee.id} />}
      {items === undefined && problem === undefined && <Skeleton shape="line" count={2} />}
      {items === undefined && problem !== undefined && <ProblemNote problem={problem} onRetry={pages.reload} />}
      {items?.length === 0 && <p class="soft">{external.noPeople}</p>}
      {items !== undefined && items.length > 0 && (
        <ul class="rows">
          {items.map((member) => (
            <MemberRow key={member.id} slug={slug} shareeId={sharee.id} member={member} mayShare={mayShare} />
          ))}
        </ul>
      )}
      <More pages={pages} />
    </section>
  );
}

function AddForm({ slug, shareeId }: { readonly slug: string; readonly shareeId: string }) {
  const [typed, setTyped] = useState('');
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const { external } = words.value;
  const email = typed.trim().toLowerCase();
  const add = async (event: SubmitEvent) => {
    event.preventDefault();
    const wrong = addressProblem([email]);
    setError(wrong);
    if (wrong !== undefined || isBusy) return;
    setBusy(true);
    try {
      const { status } = await api.sharees.addMember({ params: { workspaceId: slug, shareeId }, body: { email } });
      setTyped('');
      tell(status === 201 ? external.added(email) : external.wasThere(email));
      changed(`externals:${slug}`, `sharees:${slug}`, `sharee:${slug}`);
    } catch (thrown) {
      const { title, text } = problemWords(problemOf(thrown));
      setError(`${title} ${text}`);
    }
    setBusy(false);
  };
  return (
    <form class="inline-add" noValidate onSubmit={add}>
      <TextField
        label={external.addPerson}
        error={error}
        value={typed}
        onText={(text) => {
          setError(undefined);
          setTyped(text);
        }}
        spellcheck={false}
      />
      <Button type="submit" isBusy={isBusy} disabled={email === ''}>
        {external.add}
      </Button>
    </form>
  );
}

interface MemberRowProps {
  readonly slug: string;
  readonly shareeId: string;
  readonly member: ExternalMember;
  readonly mayShare: boolean;
}

function MemberRow({ slug, shareeId, member, mayShare }: MemberRowProps) {
  const [dialog, setDialog] = useState<'tokens' | 'remove'>();
  const { external } = words.value;
  const { id, email, name, has_account, added_at } = member;
  const close = () => setDialog(undefined);
  const remove = async () => {
    document.getElementById('externals')?.focus();
    const undo = showAtOnce<PageOf<ExternalMember>>(`externals:${slug}:${shareeId}`, (page) => ({
      ...page,
      items: page.items.filter((one) => one.id !== id),
    }));
    const params = { workspaceId: slug, shareeId, memberId: id };
    const done = await optimistic(undo, () => api.sharees.removeMember({ params }));
    changed(`externals:${slug}`, `sharees:${slug}`, `sharee:${slug}`, 'access:');
    if (done !== undefined) tell(external.removed(email));
  };
  return (
    <li class="row-item">
      <Avatar name={name ?? email} />
      <div class="grow">
        <p class="row-title">{name ?? email}</p>
        <p class="row-facts">
          {name !== null && <span>{email}</span>}
          <span>{has_account ? external.addedAt(ago(added_at)) : external.noAccount}</span>
        </p>
      </div>
      <Button small aria-label={external.tokensOf(email)} onClick={() => setDialog('tokens')}>
        {external.tokens}
      </Button>
      <IconButton icon="close" label={external.removePerson(email)} onClick={() => setDialog('remove')} />
      {dialog === 'tokens' && <TokensDialog slug={slug} shareeId={shareeId} member={member} mayShare={mayShare} onClose={close} />}
      {dialog === 'remove' && (
        <Confirm
          title={external.removeTitle(email)}
          text={external.removeText}
          action={words.value.people.remove}
          onClose={close}
          onConfirm={() => void remove()}
        />
      )}
    </li>
  );
}
