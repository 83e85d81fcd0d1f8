/** Which people outside opened what. */
import type { Receipt } from '../../../api/client.ts';
import { useReceipts } from '../../../state/sharees.ts';
import { Avatar, Time } from '../../../ui/small.tsx';
import { ProblemNote, Skeleton } from '../../../ui/states.tsx';
import { words } from '../../../words/words.ts';
import { More } from '../../more.tsx';

export function ReceiptsSection({ slug, shareeId }: { readonly slug: string; readonly shareeId?: string }) {
  const pages = useReceipts(slug, shareeId);
  const { external } = words.value;
  const { items, problem } = pages;
  return (
    <section class="part" aria-labelledby="receipts">
      <div class="section-head">
        <div class="grow">
          <h3 id="receipts">{external.receipts}</h3>
          <p class="soft small">{external.receiptsText}</p>
        </div>
      </div>
      {items === undefined && problem === undefined && <Skeleton shape="line" count={2} />}
      {items === undefined && problem !== undefined && <ProblemNote problem={problem} onRetry={pages.reload} />}
      {items?.length === 0 && <p class="soft">{external.receiptsEmpty}</p>}
      {items !== undefined && items.length > 0 && (
        <ul class="rows">
          {items.map((receipt) => (
            <ReceiptRow key={`${receipt.at}${receipt.member_id}${receipt.artifact_id}`} receipt={receipt} />
          ))}
        </ul>
      )}
      <More pages={pages} />
    </section>
  );
}

function ReceiptRow({ receipt }: { readonly receipt: Receipt }) {
  const { email, artifact_id, artifact_name, at } = receipt;
  return (
    <li class="row-item">
      <Avatar name={email} />
      <div class="grow">
        <p class="row-title">
          {email}{' '}
          <span class="row-object">
            <a href={`/p/${artifact_id}`}>{words.value.external.opened(artifact_name)}</a>
          </span>
        </p>
        <p class="row-facts">
          <Time at={at} />
        </p>
      </div>
    </li>
  );
}
