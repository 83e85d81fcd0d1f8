/** What becomes of a ticket, and who stands where towards it. */
import { describe, expect, it } from 'vitest';
import type { TicketStatus } from '../../../../protocol/business/support.ts';
import { newId } from '../../../../protocol/core/ids.ts';
import { requestId } from '../../../../src/edge/request-id.ts';
import {
  afterCustomer,
  logUrl,
  maySetStatus,
  plusAddress,
  requestIdsIn,
  seatOf,
  supportAddressOf,
  tokenIn,
} from '../../../../src/features/business/support/rules.ts';
import { agentPrincipal, userPrincipal } from '../../../support/principals.ts';

const DAY_MS = 24 * 3_600_000;
const STATUSES: readonly TicketStatus[] = ['open', 'pending', 'resolved', 'closed'];
const state = (status: TicketStatus, closedAtMs = 0) => ({ status, closedAtMs: status === 'closed' ? closedAtMs : null });

describe('status', () => {
  it('a message of the customer opens a ticket again, and after 30 days of being closed begins another', () => {
    for (const status of STATUSES) expect(afterCustomer(state(status), 30 * DAY_MS - 1)).toBe('open');
    expect(afterCustomer(state('closed'), 30 * DAY_MS)).toBe('continued');
    expect(afterCustomer(state('resolved'), 300 * DAY_MS)).toBe('open');
  });

  it('customers resolve and reopen; who answers sets anything', () => {
    const allowed = (nowMs: number) =>
      STATUSES.flatMap((from) => STATUSES.filter((to) => maySetStatus(state(from), to, 'customer', nowMs)).map((to) => `${from} ${to}`));
    const same = ['open open', 'pending pending', 'resolved resolved', 'closed closed'];
    const moves = ['open resolved', 'pending resolved', 'resolved open'];
    expect(allowed(DAY_MS).sort()).toEqual([...same, ...moves, 'closed open'].sort());
    expect(allowed(31 * DAY_MS).sort()).toEqual([...same, ...moves].sort());
    for (const from of STATUSES) for (const to of STATUSES) expect(maySetStatus(state(from), to, 'answerer', 99 * DAY_MS)).toBe(true);
  });
});

describe('who', () => {
  const [requesterId, other, pageOwnerId] = [newId('user'), newId('user'), newId('user')];
  const workspaceId = newId('workspace');
  const of = { workspaceId, artifactId: null, requesterId, pageOwnerId: null };
  const asking = { asks: true, answers: false, isStaff: false };

  it('asked, with any linked account, and runs the workspace, asks', () => {
    expect(seatOf(userPrincipal(requesterId), of)).toEqual(asking);
    expect(seatOf(userPrincipal(other, { linked: [requesterId] }), of)).toEqual(asking);
    for (const role of ['owner', 'admin'] as const)
      expect(seatOf(userPrincipal(other, { workspaces: { [workspaceId]: role } }), of)).toEqual(asking);
  });

  it('is staff answers, also beside asking', () => {
    expect(seatOf(userPrincipal(other, { isStaff: true }), of)).toEqual({ asks: false, answers: true, isStaff: true });
    expect(seatOf(userPrincipal(requesterId, { isAdmin: true }), of)).toEqual({ asks: true, answers: true, isStaff: true });
  });

  it('is neither does not know of it', () => {
    expect(seatOf(userPrincipal(other), of)).toBeNull();
    expect(seatOf(userPrincipal(other, { workspaces: { [workspaceId]: 'member' } }), of)).toBeNull();
    expect(seatOf(userPrincipal(other, { workspaces: { [newId('workspace')]: 'owner' } }), of)).toBeNull();
    expect(seatOf(agentPrincipal(workspaceId, ['data:read']), of)).toBeNull();
    expect(seatOf({ kind: 'anonymous' }, of)).toBeNull();
    expect(seatOf(userPrincipal(other), { ...of, requesterId: null })).toBeNull();
  });

  it('makes the page answers its chat', () => {
    const chat = { workspaceId, artifactId: newId('artifact'), requesterId: null, pageOwnerId };
    const maker = { asks: false, answers: true, isStaff: false };
    expect(seatOf(userPrincipal(pageOwnerId), chat)).toEqual(maker);
    expect(seatOf(userPrincipal(other, { workspaces: { [workspaceId]: 'admin' } }), chat)).toEqual(maker);
    expect(seatOf(userPrincipal(other, { workspaces: { [workspaceId]: 'member' } }), chat)).toBeNull();
    // The owner of a page is nobody in tickets that did not come from it.
    expect(seatOf(userPrincipal(pageOwnerId), { ...of, pageOwnerId })).toBeNull();
  });
});

describe('addresses', () => {
  const token = 'a2'.repeat(12);

  it('carry the token of a ticket', () => {
    expect(plusAddress('help@pages.example', token)).toBe(`help+${token}@pages.example`);
    expect(tokenIn('help@pages.example', `HELP+${token}@Pages.Example`)).toBe(token);
    for (const foreign of [
      'help@pages.example',
      `help+${token}@evil.example`,
      `other+${token}@pages.example`,
      `help+${token}x@pages.example`,
      `help+${token.slice(1)}@pages.example`,
      `help+${token.slice(1)}%@pages.example`,
      `help+${token}@pages.example.evil.example`,
    ])
      expect(tokenIn('help@pages.example', foreign)).toBeUndefined();
  });

  it('are the setting, else that of the sender', () => {
    expect(supportAddressOf({ SUPPORT_ADDRESS: 'help@x.example', MAIL_FROM: 'Easel <easel@x.example>' })).toBe('help@x.example');
    expect(supportAddressOf({ MAIL_FROM: 'Easel <easel@x.example>' })).toBe('easel@x.example');
    expect(supportAddressOf({ MAIL_FROM: 'easel@x.example' })).toBe('easel@x.example');
  });
});

describe('request ids', () => {
  it('are found as the service makes them, each once, and so many at most', () => {
    const [a, b] = [requestId(''), requestId('')];
    expect(requestIdsIn(`It said ${a}, then (${b}) and ${a}.`)).toEqual([a, b]);
    expect(requestIdsIn(`req_short, x${a}, ${a}y, req_${'A'.repeat(24)}`)).toEqual([]);
    expect(requestIdsIn(Array.from({ length: 100 }, () => requestId('')).join(' '))).toHaveLength(20);
  });

  it('lead to the log where the installation says where it is', () => {
    expect(logUrl(undefined, 'req_1')).toBeNull();
    expect(logUrl('https://logs.example/?q={request_id}&x={request_id}', 'req_1')).toBe('https://logs.example/?q=req_1&x=req_1');
  });
});
