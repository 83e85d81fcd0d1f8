/** Workspaces of the installation, and how one is made ready for a customer. */
import { useState } from 'preact/hooks';
import type { InstanceWorkspace } from '../../api/client.ts';
import { useInstanceWorkspaces, type WorkspacesFilter } from '../../state/instance.ts';
import { Button } from '../../ui/button.tsx';
import { Avatar, Tag } from '../../ui/small.tsx';
import { bytesText } from '../../words/format.ts';
import { instanceWords } from '../../words/instance-words.ts';
import { ListOf } from '../list-of.tsx';
import { type PartProps, SearchBox, SuspendedFilter, TierFilter } from './common.tsx';
import { ProvisionDialog } from './provision-dialog.tsx';
import { WorkspaceDialog } from './workspace-dialog.tsx';

export function WorkspacesPart({ q: initial }: PartProps) {
  const [filter, setFilter] = useState<WorkspacesFilter>({ q: initial, tier: 'all', suspended: 'all' });
  const [openId, setOpenId] = useState<string>();
  const [isProvisioning, setProvisioning] = useState(false);
  const pages = useInstanceWorkspaces(filter);
  const said = instanceWords.value;
  const { workspaces } = said;
  const isFiltered = filter.q !== '' || filter.tier !== 'all' || filter.suspended !== 'all';
  const set = (change: Partial<WorkspacesFilter>) => setFilter((before) => ({ ...before, ...change }));
  return (
    <>
      <div class="instance-tools">
        <SearchBox label={workspaces.search} initial={initial} onSearch={(q) => set({ q })} />
        <TierFilter value={filter.tier} onChoose={(tier) => set({ tier })} />
        <SuspendedFilter value={filter.suspended} onChoose={(suspended) => set({ suspended })} />
        <Button look="main" icon="plus" onClick={() => setProvisioning(true)}>
          {workspaces.provision}
        </Button>
      </div>
      <ListOf pages={pages} icon="folder" empty={isFiltered ? said.noneFound : workspaces.empty}>
        {(one) => <WorkspaceRow key={one.id} one={one} onOpen={() => setOpenId(one.id)} />}
      </ListOf>
      {openId !== undefined && <WorkspaceDialog key={openId} workspaceId={openId} onClose={() => setOpenId(undefined)} />}
      {isProvisioning && <ProvisionDialog onClose={() => setProvisioning(false)} />}
    </>
  );
}

function WorkspaceRow({ one, onOpen }: { readonly one: InstanceWorkspace; readonly onOpen: () => void }) {
  const said = instanceWords.value;
  const { workspaces } = said;
  const { name, slug, plan_tier, plan_status, suspended, members, artifacts, bytes } = one;
  return (
    <li class="row-item">
      <Avatar name={name} isSquare />
      <div class="grow">
        <p class="row-title">
          <button type="button" class="row-open" aria-label={said.open(name)} onClick={onOpen}>
            {name}
          </button>
          {suspended !== null && <Tag tone="warn">{said.suspended}</Tag>}
        </p>
        <p class="row-facts">
          <span>{slug}</span>
          <span>{workspaces.members(members)}</span>
          <span>{workspaces.pagesCount(artifacts)}</span>
          <span>{bytesText(bytes)}</span>
        </p>
      </div>
      {plan_status !== 'active' && <Tag tone={plan_status === 'past_due' ? 'warn' : 'plain'}>{said.status[plan_status]}</Tag>}
      <Tag>{said.tier[plan_tier]}</Tag>
    </li>
  );
}
