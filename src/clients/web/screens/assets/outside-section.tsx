/** With whom outside the workspace a file is shared. For owners and admins, who may do that. */
import { useState } from 'preact/hooks';
import type { Grant } from '../../api/client.ts';
import { endGrant, useGrants } from '../../state/outside.ts';
import { Button } from '../../ui/button.tsx';
import { ago } from '../../words/format.ts';
import { words } from '../../words/words.ts';
import { More } from '../more.tsx';
import { OutsideForm } from '../share/outside-form.tsx';

const HEADING = 'asset-outside';

interface OutsideSectionProps {
  readonly slug: string;
  readonly fileId: string;
  /** What is typed and not sent, for whoever closes the dialog. */
  readonly onTyped: (isTyped: boolean) => void;
}

export function OutsideSection({ slug, fileId, onTyped }: OutsideSectionProps) {
  const pages = useGrants(slug, { resourceId: fileId });
  const [email, setEmail] = useState('');
  const { assets } = words.value;
  const type = (text: string) => {
    setEmail(text);
    onTyped(text.trim() !== '');
  };
  return (
    <section class="part asset-part" aria-labelledby={HEADING}>
      <h3 id={HEADING} tabIndex={-1}>
        {assets.outside}
      </h3>
      <p class="soft small">{assets.outsideText}</p>
      {pages.items?.length === 0 && <p class="soft">{assets.outsideNone}</p>}
      {pages.items !== undefined && pages.items.length > 0 && (
        <ul class="rows">
          {pages.items.map((grant) => (
            <OutsideRow key={grant.id} slug={slug} grant={grant} />
          ))}
        </ul>
      )}
      <More pages={pages} />
      <OutsideForm workspace={slug} resource={{ type: 'file', id: fileId }} email={email} onEmail={type} />
    </section>
  );
}

function OutsideRow({ slug, grant }: { readonly slug: string; readonly grant: Grant }) {
  const { outside, others } = words.value;
  const { subject_name: name, expires_at } = grant;
  const isOver = expires_at !== null && Date.parse(expires_at) <= Date.now();
  const end = () => {
    document.getElementById(HEADING)?.focus();
    void endGrant(slug, grant);
  };
  return (
    <li class="row-item">
      <div class="grow">
        <p class="row-title">{name}</p>
        {expires_at !== null && <p class="row-facts">{isOver ? others.ended(ago(expires_at)) : others.ends(ago(expires_at))}</p>}
      </div>
      <Button small aria-label={outside.endOf(name)} onClick={end}>
        {outside.end}
      </Button>
    </li>
  );
}
