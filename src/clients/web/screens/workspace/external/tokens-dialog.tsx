/** The tokens of somebody outside; a new one's secret is shown once. */
import { useState } from 'preact/hooks';
import { api, type ExternalMember, type ExternalToken } from '../../../api/client.ts';
import { type Problem, problemOf } from '../../../api/problem.ts';
import type { PageOf } from '../../../state/pages.ts';
import { useExternalTokens } from '../../../state/sharees.ts';
import { changed, showAtOnce } from '../../../state/store.ts';
import { optimistic, tell } from '../../../state/toasts.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { Code } from '../../../ui/copy.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { SelectField, TextField } from '../../../ui/fields.tsx';
import { ProblemNote, Skeleton } from '../../../ui/states.tsx';
import { ago } from '../../../words/format.ts';
import { problemWords } from '../../../words/problems.ts';
import { words } from '../../../words/words.ts';
import { More } from '../../more.tsx';

const ENDS = ['30', '90', '365', ''] as const;
const DAY_MS = 24 * 60 * 60 * 1000;
const NAME_CHARS_MAX = 200;

interface TokensDialogProps {
  readonly slug: string;
  readonly shareeId: string;
  readonly member: ExternalMember;
  readonly mayShare: boolean;
  readonly onClose: () => void;
}

export function TokensDialog(props: TokensDialogProps) {
  const [secret, setSecret] = useState<string>();
  const [name, setName] = useState('');
  const { external, agents } = words.value;
  const { member, mayShare, onClose } = props;
  if (secret !== undefined) {
    return (
      <Dialog key="secret" title={agents.made} isFirm onClose={onClose}>
        <p role="status">{agents.madeText}</p>
        <Code text={secret} />
        <div class="dialog-foot">
          <Button look="main" onClick={() => setSecret(undefined)}>
            {agents.stored}
          </Button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog key="list" title={external.tokensOf(member.email)} isChanged={name.trim() !== ''} onClose={onClose}>
      <p class="soft small">{external.tokensText}</p>
      <TokenList {...props} />
      {mayShare && <TokenForm {...props} name={name} onName={setName} onMade={setSecret} />}
    </Dialog>
  );
}

function TokenList({ slug, shareeId, member }: TokensDialogProps) {
  const pages = useExternalTokens(slug, shareeId, member.id);
  const { external } = words.value;
  const { items, problem } = pages;
  return (
    <>
      {items === undefined && problem === undefined && <Skeleton shape="line" count={1} />}
      {items === undefined && problem !== undefined && <ProblemNote problem={problem} onRetry={pages.reload} />}
      {items?.length === 0 && <p>{external.noTokens}</p>}
      {items !== undefined && items.length > 0 && (
        <ul class="rows">
          {items.map((token) => (
            <TokenRow key={token.id} slug={slug} shareeId={shareeId} memberId={member.id} token={token} />
          ))}
        </ul>
      )}
      <More pages={pages} />
    </>
  );
}

interface TokenRowProps {
  readonly slug: string;
  readonly shareeId: string;
  readonly memberId: string;
  readonly token: ExternalToken;
}

function TokenRow({ slug, shareeId, memberId, token }: TokenRowProps) {
  const { external, agents } = words.value;
  const { id, created_at, last_used_at, expires_at } = token;
  const name = token.name ?? external.unnamed;
  const key = `externalTokens:${slug}:${memberId}`;
  const revoke = async () => {
    const undo = showAtOnce<PageOf<ExternalToken>>(key, (page) => ({ ...page, items: page.items.filter((one) => one.id !== id) }));
    const params = { workspaceId: slug, shareeId, memberId, tokenId: id };
    const done = await optimistic(undo, () => api.externalTokens.revoke({ params }));
    changed(key);
    if (done !== undefined) tell(external.revoked(name));
  };
  return (
    <li class="row-item">
      <div class="grow">
        <p class="row-title">{name}</p>
        <p class="row-facts">
          <span>{agents.madeBy(ago(created_at))}</span>
          <span>{last_used_at === null ? agents.unused : agents.used(ago(last_used_at))}</span>
          {expires_at !== null && <span>{agents.endsAt(ago(expires_at))}</span>}
        </p>
      </div>
      <IconButton icon="close" label={external.revokeToken(name)} onClick={() => void revoke()} />
    </li>
  );
}

interface TokenFormProps extends TokensDialogProps {
  readonly name: string;
  readonly onName: (name: string) => void;
  readonly onMade: (secret: string) => void;
}

function TokenForm({ slug, shareeId, member, name, onName, onMade }: TokenFormProps) {
  const [days, setDays] = useState<(typeof ENDS)[number]>('90');
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const { external, agents } = words.value;
  const make = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      const expires_at = days === '' ? undefined : new Date(Date.now() + Number(days) * DAY_MS).toISOString();
      const params = { workspaceId: slug, shareeId, memberId: member.id };
      const { body } = await api.externalTokens.create({ params, body: { name: name.trim() || null, expires_at } });
      onName('');
      onMade(body.token);
      changed(`externalTokens:${slug}:${member.id}`);
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
    }
  };
  const failed = problem && problemWords(problem);
  return (
    <form class="token-form" onSubmit={make}>
      <h3>{external.newToken}</h3>
      <TextField
        label={external.tokenName}
        value={name}
        onText={onName}
        maxLength={NAME_CHARS_MAX}
        error={failed && `${failed.title} ${failed.text}`}
      />
      <SelectField
        label={agents.expires}
        value={days}
        options={ENDS.map((value) => ({ value, label: value === '' ? agents.never : agents.days(Number(value)) }))}
        onChoose={setDays}
      />
      <div class="dialog-foot">
        <Button type="submit" look="main" isBusy={isBusy}>
          {external.makeToken}
        </Button>
      </div>
    </form>
  );
}
