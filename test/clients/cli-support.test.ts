/** Tickets on the command line, against the real service. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { MailStage } from '../features/automation/email/mail-stage.ts';
import { staffOf, supportStage } from '../features/business/support/support-stage.ts';
import { type Person, person } from '../features/workspaces/workspace-stage.ts';
import { newWorkspace } from '../support/workspaces.ts';
import { runInProcess } from './in-process.ts';

let stage: MailStage;
let grace: Person;
let staff: Person;
beforeAll(async () => {
  stage = await supportStage();
  grace = await person(stage.easel, 'grace');
  staff = await staffOf(stage, 'ada');
  await newWorkspace(stage.easel, { [grace.userId]: 'owner' }, { slug: 'maps' });
});
afterAll(() => stage.close());

const env = (by: Person) => ({ HOME: '/nonexistent', EASEL_URL: stage.easel.baseUrl, EASEL_TOKEN: by.token });
async function run(by: Person, ...args: string[]): Promise<string> {
  const { code, out, err } = await runInProcess(['support', ...args], env(by));
  expect([code, err]).toEqual([0, '']);
  return out;
}

it('from the question to the end, with a draft, and without what steers a terminal', async () => {
  expect(await run(grace, 'list')).toBe('There are no tickets.\n');
  const made = JSON.parse(
    await run(
      grace,
      'create',
      'The \u001b[2Jmap',
      '--body',
      `Empty.\u001b]0;x\u0007 req_${'a'.repeat(24)}`,
      '-w',
      'maps',
      '--priority',
      'high',
      '--json',
    ),
  );
  const { id } = made.ticket;
  expect(await run(staff, 'list', '--all', '--status', 'open', '--find', 'map', '--assignee', 'none')).toMatch(
    new RegExp(`${id} +open +high +\\S+ \\S+ +grace <${grace.email}> +The +\\[2Jmap\n`),
  );
  expect(await run(staff, 'assign', id, staff.userId)).toContain('  assigned  ada\n');
  const draft = await run(staff, 'reply', id, 'Which browser?', '--draft');
  const [, messageId = ''] = /Kept as draft (\S+)\.\n/.exec(draft) ?? [];
  const shown = await run(staff, 'show', id);
  expect(shown).toContain(`DRAFT ${messageId}`);
  expect(shown).toContain(`  request   req_${'a'.repeat(24)}  https://logs.example/?q=req_${'a'.repeat(24)}`);
  expect(shown).not.toContain('\u001b');
  expect(shown).not.toContain('\u0007');
  expect(await run(staff, 'approve', id, messageId)).toBe('Sent by ui. The ticket is pending.\n');
  expect(await run(grace, 'message', id, 'Firefox.')).toBe(`${id} is open.\n`);
  expect(await run(staff, 'reply', id, 'Thank you.')).toBe('Sent by ui. The ticket is pending.\n');
  expect(await run(grace, 'status', id, 'resolved')).toBe(`${id} is resolved.\n`);
  const thread = await run(grace, 'show', id);
  expect(thread).toMatch(/grace \(customer\)\n {2}Empty\.[\s\S]*ada \(staff\)\n {2}Which browser\?[\s\S]*Firefox\.[\s\S]*Thank you\.\n$/);
  expect(await run(grace, 'list', '-w', 'maps')).toContain(id);
  expect(await run(grace, 'list', '--pages')).toBe('There are no tickets.\n');
});

it('says what is not allowed', async () => {
  const { code, err } = await runInProcess(['support', 'list', '--all'], env(grace));
  expect([code, err]).toEqual([expect.any(Number), expect.stringContaining('staff')]);
  expect(code).not.toBe(0);
});
