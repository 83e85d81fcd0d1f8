/** What a workspace shares with people outside: organisations, grants, and what was opened. */
import { useState } from 'preact/hooks';
import { api, type Sharee } from '../../../api/client.ts';
import { type Problem, problemOf } from '../../../api/problem.ts';
import { useMayShareOutside, useSharees } from '../../../state/outside.ts';
import { changed } from '../../../state/store.ts';
import { tell } from '../../../state/toasts.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/fields.tsx';
import { Avatar, PlanLink, Tag } from '../../../ui/small.tsx';
import { Empty, ProblemState, Skeleton } from '../../../ui/states.tsx';
import { problemWords } from '../../../words/problems.ts';
import { words } from '../../../words/words.ts';
import { More } from '../../more.tsx';
import { GrantsSection } from './grants-section.tsx';
import { ReceiptsSection } from './receipts-section.tsx';

const NAME_CHARS_MAX = 200;

export function ExternalPart({ slug }: { readonly slug: string }) {
  const entitled = useMayShareOutside(slug);
  const mayShare = entitled.data?.enabled !== false;
  const { external } = words.value;
  return (
    <div class="narrow">
      <div class="section-head">
        <div class="grow">
          <h2>{external.title}</h2>
          <p class="soft small">{external.text}</p>
        </div>
      </div>
      {!mayShare && <NotEntitled slug={slug} />}
      <Sharees slug={slug} mayShare={mayShare} />
      <GrantsSection slug={slug} mayShare={mayShare} />
      <ReceiptsSection slug={slug} />
    </div>
  );
}

/** What is shared already stays in view, so that it can be ended. */
export function NotEntitled({ slug }: { readonly slug: string }) {
  const { outside, external } = words.value;
  return (
    <div class="notice warn" role="status">
      <p>
        <strong>{outside.off}.</strong> {outside.offText}
      </p>
      <p>
        {external.offKept} <PlanLink workspace={slug} />
      </p>
    </div>
  );
}

function Sharees({ slug, mayShare }: { readonly slug: string; readonly mayShare: boolean }) {
  const pages = useSharees(slug);
  const [isMaking, setMaking] = useState(false);
  const { external } = words.value;
  const { items, problem } = pages;
  const make = (
    <Button look="main" icon="plus" disabled={!mayShare} onClick={() => setMaking(true)}>
      {external.make}
    </Button>
  );
  return (
    <section class="part" aria-labelledby="sharees">
      <div class="section-head">
        <h3 id="sharees" class="grow">
          {external.sharees}
        </h3>
        {items !== undefined && items.length > 0 && make}
      </div>
      {items === undefined && problem === undefined && <Skeleton shape="line" count={3} />}
      {items === undefined && problem !== undefined && <ProblemState problem={problem} onRetry={pages.reload} />}
      {items?.length === 0 && (
        <Empty icon="people" {...external.empty} command={`npx easel grants add ${slug} ada@client.example my-page --may comment`}>
          {make}
        </Empty>
      )}
      {items !== undefined && items.length > 0 && (
        <ul class="rows">
          {items.map((sharee) => (
            <ShareeRow key={sharee.id} slug={slug} sharee={sharee} />
          ))}
        </ul>
      )}
      <More pages={pages} />
      {isMaking && <ShareeDialog slug={slug} onClose={() => setMaking(false)} />}
    </section>
  );
}

function ShareeRow({ slug, sharee }: { readonly slug: string; readonly sharee: Sharee }) {
  const { id, name, type, member_count } = sharee;
  return (
    <li class="row-item">
      <Avatar name={name} isSquare />
      <div class="grow">
        <p class="row-title">
          <a href={`/w/${slug}/external/${id}`}>{name}</a> {type !== null && <Tag>{type}</Tag>}
        </p>
        <p class="row-facts">{words.value.external.members(member_count)}</p>
      </div>
    </li>
  );
}

function ShareeDialog({ slug, onClose }: { readonly slug: string; readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const [type, setType] = useState('');
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const { external, app } = words.value;
  const make = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      await api.sharees.create({ params: { workspaceId: slug }, body: { name: name.trim(), type: type.trim() || null } });
      changed(`sharees:${slug}`);
      tell(external.made(name.trim()));
      onClose();
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
    }
  };
  const failed = problem && problemWords(problem);
  return (
    <Dialog title={external.make} isChanged={name.trim() !== '' || type.trim() !== ''} onClose={onClose}>
      <form onSubmit={make}>
        <TextField
          label={external.name}
          value={name}
          onText={setName}
          required
          maxLength={NAME_CHARS_MAX}
          autoFocus
          error={failed && `${failed.title} ${failed.text}`}
        />
        <TextField label={external.type} hint={external.typeHint} value={type} onText={setType} maxLength={NAME_CHARS_MAX} />
        <div class="dialog-foot">
          <Button onClick={onClose}>{app.cancel}</Button>
          <Button type="submit" look="main" isBusy={isBusy} disabled={name.trim() === ''}>
            {external.create}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
