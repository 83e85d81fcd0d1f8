/** Versions that wait for approval, and the rule by which they do. */
import { type Answer, api, type Waiting } from '../../api/client.ts';
import { usePublishPolicy, useWaiting } from '../../state/loads.ts';
import { mayManage } from '../../state/place.ts';
import { myId } from '../../state/session.ts';
import { changed, showAtOnce } from '../../state/store.ts';
import { optimistic, tell, tellProblem } from '../../state/toasts.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { Drawing } from '../../ui/drawing.tsx';
import { RadioCards, SelectField } from '../../ui/fields.tsx';
import { Tag } from '../../ui/small.tsx';
import { Empty, Loaded, ProblemState, Skeleton } from '../../ui/states.tsx';
import { ago } from '../../words/format.ts';
import { words } from '../../words/words.ts';
import { More } from '../more.tsx';

type Policy = Answer<'publishPolicy', 'get'>;

const APPROVALS = ['1', '2', '3'] as const;

export function ApprovalsPart({ slug }: { readonly slug: string }) {
  const pages = useWaiting(slug);
  const { approvals } = words.value;
  const { items } = pages;
  return (
    <div class="narrow">
      <div class="section-head">
        <div class="grow">
          <h2>{approvals.title}</h2>
          <p class="soft small">{approvals.text}</p>
        </div>
      </div>
      {items === undefined && pages.problem === undefined && <Skeleton shape="line" count={3} />}
      {items === undefined && pages.problem !== undefined && <ProblemState problem={pages.problem} onRetry={pages.reload} />}
      {items?.length === 0 && <Empty icon="stamp" {...approvals.empty} />}
      {items !== undefined && items.length > 0 && (
        <ul class="rows">
          {items.map((waiting) => (
            <WaitingRow key={waiting.version_id} slug={slug} waiting={waiting} />
          ))}
        </ul>
      )}
      <More pages={pages} />
      {mayManage(slug) && <PolicyChoice slug={slug} />}
    </div>
  );
}

function WaitingRow({ slug, waiting }: { readonly slug: string; readonly waiting: Waiting }) {
  const { approvals, versions } = words.value;
  const { artifact, version_id, version_no, label, note, author, waiting_since, approved_by, approvals_required } = waiting;
  const isMine = approved_by.some(({ id }) => id === myId());
  const params = { id: artifact.id, version: version_id };
  const decide = async (call: () => Promise<unknown>, done: string) => {
    try {
      await call();
      tell(done);
    } catch (error) {
      tellProblem(error);
    }
    changed(`waiting:${slug}`, 'artifacts:', `artifact:${artifact.id}`, `versions:${artifact.id}`);
  };
  return (
    <li class="row-item">
      <span class="row-picture">
        <Drawing seed={artifact.id} />
      </span>
      <div class="grow">
        <p class="row-title">
          {artifact.name} <span class="version-label">{label ?? versions.no(version_no)}</span>
        </p>
        <p class="row-facts">
          <span>{approvals.by(author === null ? versions.agent : (author.name ?? versions.somebody), ago(waiting_since))}</span>
          <Tag tone="warn">{approvals.of(approved_by.length, approvals_required)}</Tag>
        </p>
        {note !== null && <p class="row-note">{note}</p>}
      </div>
      <LinkButton small href={`/p/${artifact.id}/versions`}>
        {approvals.review}
      </LinkButton>
      {mayManage(slug) &&
        (isMine ? (
          <Button small onClick={() => void decide(() => api.reviews.withdraw({ params }), versions.withdrawn)}>
            {versions.withdraw}
          </Button>
        ) : (
          <Button small look="main" onClick={() => void decide(() => api.reviews.approve({ params }), versions.approved)}>
            {versions.approve}
          </Button>
        ))}
    </li>
  );
}

function PolicyChoice({ slug }: { readonly slug: string }) {
  const loaded = usePublishPolicy(slug);
  const { approvals } = words.value;
  const save = async (body: Partial<Policy>) => {
    const undo = showAtOnce<Policy>(`policy:${slug}`, (policy) => ({ ...policy, ...body }));
    const done = await optimistic(undo, () => api.publishPolicy.update({ params: { workspaceId: slug }, body }));
    changed(`policy:${slug}`, `waiting:${slug}`);
    if (done !== undefined) tell(approvals.policySaved);
  };
  return (
    <section class="panel" aria-labelledby="policy">
      <h2 id="policy">{approvals.policy}</h2>
      <Loaded of={loaded} shape="block">
        {({ policy, approvals_required }) => (
          <>
            <RadioCards
              label={approvals.policy}
              value={policy}
              options={(['allow', 'require_approval', 'prohibit'] as const).map((value) => ({ value, ...approvals.policies[value] }))}
              onChoose={(value) => void save({ policy: value })}
            />
            {policy === 'require_approval' && (
              <SelectField
                label={approvals.needed}
                value={APPROVALS.find((count) => Number(count) === approvals_required) ?? '1'}
                options={APPROVALS.map((value) => ({ value, label: value }))}
                onChoose={(value) => void save({ approvals_required: Number(value) })}
              />
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}
