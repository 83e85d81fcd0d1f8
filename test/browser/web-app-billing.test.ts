/** Plans and what is paid for them in the web app, in Chromium, with the pages of the embedded payment provider. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { minutesUntil } from '../support/minutes.ts';
import { describeWith } from '../support/services.ts';
import { WebPerson } from '../support/web-person.ts';
import { type AppPerson, AppStage, publishPage, unexpected } from './app-stage.ts';
import { axeSource, findingsOf } from './axe.ts';
import { keepScreenshot } from './screenshot.ts';

const DAY_MS = 24 * 3_600_000;

describeWith('chromiumPath')('billing in the web app', () => {
  let stage: AppStage;
  let axe: string;

  beforeAll(async () => {
    [stage, axe] = await Promise.all([AppStage.start(), axeSource()]);
  });
  afterAll(() => stage?.close());

  interface Payer extends AppPerson {
    readonly email: string;
    readonly workspaceId: string;
  }

  /** The browser has the time of the service. */
  const sameTime = ({ page }: AppPerson) => page.clock.setFixedTime(stage.easel.clock.nowMs());

  async function someone(name: string, options: Parameters<AppStage['person']>[1] = {}): Promise<AppPerson> {
    const person = await stage.person(`${name}@example.com`, options);
    await sameTime(person);
    return person;
  }

  async function owner(slug: string, options: Parameters<AppStage['person']>[1] = {}): Promise<Payer> {
    const person = await someone(slug, options);
    const { body } = await person.client.workspaces.create({ body: { name: `Studio ${slug}`, slug } });
    return { ...person, email: `${slug}@example.com`, workspaceId: body.id };
  }

  const subscription = async ({ client, workspaceId }: Payer) =>
    (await client.billing.subscription({ query: { workspace_id: workspaceId } })).body;

  /** Lets time pass until the work of billing, which is done once a minute, has brought about what is awaited, and shows it. */
  async function pass(payer: Payer, ms: number, isReached: (now: Awaited<ReturnType<typeof subscription>>) => boolean): Promise<void> {
    const screen = payer.page.url();
    await payer.page.goto('about:blank');
    stage.easel.clock.advance(ms);
    const isThere = await minutesUntil(stage.easel.clock, async () => isReached(await subscription(payer)));
    if (!isThere) throw new Error(`not reached: ${JSON.stringify(await subscription(payer))}`);
    await sameTime(payer);
    // The session has ended meanwhile.
    const { cookies } = await WebPerson.signedIn(stage.easel, payer.email);
    await payer.page.context().addCookies([...cookies].map(([name, value]) => ({ name, value, url: stage.origin })));
    await payer.page.goto(screen);
  }

  async function isSound({ page }: AppPerson, name: string): Promise<void> {
    await keepScreenshot(page, `billing ${name}`);
    expect(await findingsOf(page, axe)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  }

  /** Without what a screen of a workspace that never paid is answered. */
  const troublesOf = ({ troubles }: AppPerson) =>
    unexpected(troubles).filter((trouble) => !/\b404\b.*(?:billing\/subscription|\(Not Found\))/.test(trouble));

  /** Chooses a card on the page of the provider, and comes back. */
  async function saveCard({ page }: AppPerson, card: string, [save, saved, back] = ['Save this card', 'The card is saved', 'Go back']) {
    await page.getByRole('radio', { name: card }).check();
    await page.getByRole('button', { name: save }).click();
    await page.getByRole('heading', { name: saved }).waitFor();
    await page.getByRole('link', { name: back }).click();
  }

  it('a trial, a card that is declined and one that is not, and a plan that is paid', async () => {
    const person = await owner('maps');
    const { page } = person;
    await page.goto(stage.origin);
    await page.getByRole('button', { name: 'Account of' }).click();
    await page.getByRole('menuitem', { name: 'Plan and billing' }).click();
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
    await page.getByText(' of 1 GB').waitFor();
    await isSound(person, 'mine');
    await page.getByRole('link', { name: 'Plan and billing of Studio maps' }).click();
    await page.getByText('Nothing is paid for this workspace.').waitFor();
    await page.getByText('There are no invoices yet.').waitFor();
    await isSound(person, 'nothing paid');

    await page.getByRole('button', { name: 'Choose a plan' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('radio', { name: 'Team' }).check();
    await dialog.getByLabel('Seats').fill('3');
    await dialog.getByText('Together $60.00 a month. If neither you nor this workspace had a trial yet, 14 days are free').waitFor();
    await dialog.getByText('Storage: 200 GB').waitFor();
    await isSound(person, 'choose');
    await dialog.getByRole('button', { name: 'Start' }).click();
    await page.getByText('Team, monthly has begun.').waitFor();
    const plan = page.getByRole('region', { name: 'Team, monthly, 3 seats' });
    await plan.getByText('The trial ends on Jan 15, 2026 (in 14 days). Nothing is charged for it.').waitFor();
    await page.getByText('0 B of 200 GB').waitFor();
    await isSound(person, 'trial');

    await plan.getByRole('button', { name: 'Add a card' }).click();
    await page.getByRole('radio', { name: 'Is declined', exact: false }).first().check();
    await page.getByRole('button', { name: 'Save this card' }).click();
    await page.getByRole('alert').getByText('The bank declined the card').waitFor();
    await saveCard(person, 'visa ···· 4242');
    await page.getByText('Visa ending in 4242 is saved.').waitFor();
    expect(new URL(page.url()).search).toBe('');
    await plan.getByText('Then $60.00 is charged to your card').waitFor();

    // In a trial everything changes at once.
    await plan.getByRole('button', { name: 'Change plan or seats' }).click();
    await dialog.getByLabel('Seats').fill('2');
    await dialog.getByText('nothing is charged during the trial. From Jan 15, 2026 it is $40.00 a month.').waitFor();
    await dialog.getByRole('button', { name: 'Change the plan' }).click();
    await page.getByText('The workspace has Team, monthly, 2 seats now.').waitFor();

    await pass(person, 14 * DAY_MS, ({ status }) => status === 'active');
    const paid = page.getByRole('region', { name: 'Team, monthly, 2 seats' });
    await paid.getByText('The next payment of $40.00 is on Feb 14, 2026.').waitFor();
    const invoice = page.getByRole('listitem').filter({ hasText: 'Invoice EASEL-000001' });
    await invoice.getByText('$40.00').waitFor();
    await invoice.getByText('Paid').waitFor();
    await isSound(person, 'paid');
    const [opened] = await Promise.all([page.context().waitForEvent('page'), invoice.getByRole('link').click()]);
    await opened.getByRole('heading', { name: 'Invoice EASEL-000001' }).waitFor();
    await opened.close();
    // The form of the provider answers a declined card with the form again.
    expect(troublesOf(person).filter((trouble) => !/\b400\b/.test(trouble))).toEqual([]);
  });

  it('without a trial: a card that is declined when it pays, and one for which the bank asks', async () => {
    const person = await owner('secure');
    const { page, client, workspaceId } = person;
    await client.billing.subscribe({ body: { workspace_id: workspaceId, plan_id: 'pro_monthly' } });
    await client.billing.cancel({ body: { workspace_id: workspaceId, at: 'now' } });
    await page.goto(`${stage.origin}/w/secure/billing`);
    await page.getByText('Nothing was deleted; choose a plan to go on.').waitFor();
    await page.getByRole('button', { name: 'Choose a plan' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Yearly' }).click();
    await dialog.getByText('$200.00 for each seat a year').waitFor();
    await dialog.getByRole('button', { name: 'Monthly' }).click();
    await dialog.getByText('The workspace had a trial before: the plan begins when a card has paid $12.00 a month.').waitFor();
    await dialog.getByRole('button', { name: 'Start' }).click();
    const plan = page.getByRole('region', { name: 'Pro, monthly' });
    await plan.getByText('The first payment of $12.00 is missing.').waitFor();
    await isSound(person, 'incomplete');

    await plan.getByRole('button', { name: 'Add a card' }).click();
    await saveCard(person, 'Is saved, and declined when it is charged');
    await page.getByRole('alert').getByText('The bank declined the card: it gives no reason. The card is saved').waitFor();
    await isSound(person, 'declined');
    // The same card once more.
    await page.getByRole('button', { name: 'Pay invoice EASEL-000001' }).click();
    await page.getByRole('alert').getByText('This did not work. The bank declined the card').waitFor();

    await plan.getByRole('button', { name: 'Add a card' }).click();
    await saveCard(person, 'Asks for a confirmation');
    await plan.getByRole('alert').getByText('Your bank asks you to confirm the payment.').waitFor();
    await isSound(person, 'bank asks');
    const [bank] = await Promise.all([
      page.context().waitForEvent('page'),
      plan.getByRole('link', { name: 'Confirm at your bank' }).click(),
    ]);
    await bank.getByText('shall 12.00 USD be paid').waitFor();
    await bank.getByRole('button', { name: 'Pay', exact: true }).click();
    await bank.getByRole('heading', { name: 'The payment is confirmed' }).waitFor();
    await bank.close();
    await plan.getByText('The next payment of $12.00 is on').waitFor();
    await page.getByRole('listitem').filter({ hasText: 'Invoice EASEL-000001' }).getByText('Paid').waitFor();

    // The other card is removed; the one that pays the plan stays.
    await page.getByRole('button', { name: 'Remove Visa ending in 0341' }).click();
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await page.getByText('Visa ending in 0341 is removed.').waitFor();
    await page.getByRole('button', { name: 'Remove Visa ending in 3155' }).click();
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('alert').getByText('The subscription is paid with this card.').waitFor();
    expect(troublesOf(person).filter((trouble) => !/\b40[02]\b/.test(trouble))).toEqual([]);
  });

  it('a smaller plan comes with the next period and can be taken back; a canceled one too; what is over is said', async () => {
    const person = await owner('smaller');
    const { page, client, workspaceId } = person;
    await client.billing.subscribe({ body: { workspace_id: workspaceId, plan_id: 'team_monthly', seats: 2 } });
    const { subscription_id } = await subscription(person);
    await client.billing.card({ body: { subscription_id, token: 'tok_visa' } });
    await client.catalog.enable({ params: { workspaceId } });
    await page.goto(`${stage.origin}/w/smaller/billing`);
    await pass(person, 14 * DAY_MS, ({ status }) => status === 'active');

    const plan = page.getByRole('region', { name: 'Team, monthly, 2 seats' });
    await plan.getByRole('button', { name: 'Change plan or seats' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('This is the plan of the workspace.').waitFor();
    await dialog.getByLabel('Seats').fill('4');
    await dialog.getByText(/^Together \$80\.00 a month\. It changes at once\. About \$[34]\d\.\d\d is charged now, for the rest/).waitFor();
    await dialog.getByRole('radio', { name: 'Pro' }).check();
    await dialog.getByText('Nothing is charged now, and what is paid stays until').waitFor();
    await dialog.getByText('Sharing with people outside: turned off.').waitFor();
    await isSound(person, 'smaller');
    await dialog.getByRole('button', { name: 'Change the plan' }).click();
    await plan.getByText('the workspace changes to Pro, monthly').waitFor();
    await isSound(person, 'pending');
    await plan.getByRole('button', { name: 'Stay with the current plan' }).click();
    await page.getByText('The workspace stays with its plan.').waitFor();
    await plan.getByText('The next payment of $40.00').waitFor();
    expect((await subscription(person)).pending).toBeNull();

    await plan.getByRole('button', { name: 'Cancel the plan' }).click();
    await dialog.getByText('When what is paid is used up').waitFor();
    await isSound(person, 'cancel');
    await dialog.getByRole('button', { name: 'Cancel the plan' }).click();
    await plan.getByText('The plan is canceled and ends on').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await plan.getByText('The next payment of $40.00').waitFor();
    await plan.getByRole('button', { name: 'Cancel the plan' }).click();
    await dialog.getByRole('button', { name: 'Cancel the plan' }).click();
    await plan.getByText('The plan is canceled and ends on').waitFor();
    await isSound(person, 'canceled');
    await plan.getByRole('button', { name: 'Keep the plan' }).click();
    await plan.getByText('The next payment of $40.00').waitFor();
    expect((await subscription(person)).cancel_at_period_end).toBe(false);

    await plan.getByRole('button', { name: 'Cancel the plan' }).click();
    await dialog.getByRole('radio', { name: 'Now' }).check();
    await dialog.getByRole('button', { name: 'Cancel the plan' }).click();
    await page.getByText('The plan has ended.').waitFor();
    await page.getByRole('region', { name: 'Free' }).getByText('Nothing was deleted').waitFor();
    const over = page.getByRole('region', { name: 'More than the plan allows' });
    await over.getByText('Data catalog: 1, and the plan allows 0.').waitFor();
    await over.getByText('What was written stays stored; the catalog is off.').waitFor();
    await isSound(person, 'over');
    expect(troublesOf(person)).toEqual([]);
  });

  it('billing managers pay, other members see what the plan allows, and a refusal leads to the screen', async () => {
    const person = await owner('roles');
    const { page, client, workspaceId } = person;
    const [mia, tom] = [await someone('mia'), await someone('tom')];
    for (const email of ['mia@example.com', 'tom@example.com']) {
      await client.members.add({ params: { workspaceId }, body: { email, role: 'member' } });
    }
    await page.goto(`${stage.origin}/w/roles/people`);
    await page.getByRole('button', { name: 'Make billing manager: mia@example.com' }).click();
    await page.getByText('Billing manager', { exact: true }).waitFor();
    await isSound(person, 'manager');

    await mia.page.goto(`${stage.origin}/w/roles`);
    await mia.page.getByRole('link', { name: 'Plan and billing' }).click();
    await mia.page.getByRole('button', { name: 'Choose a plan' }).click();
    await mia.page.getByRole('dialog').getByRole('button', { name: 'Start' }).click();
    await mia.page.getByText('Pro, monthly has begun.').waitFor();
    expect(await mia.page.getByRole('link', { name: 'Settings' }).count()).toBe(0);
    expect(troublesOf(mia)).toEqual([]);

    await tom.page.goto(`${stage.origin}/w/roles`);
    await tom.page.getByRole('link', { name: 'People' }).waitFor();
    expect(await tom.page.getByRole('link', { name: 'Plan and billing' }).count()).toBe(0);
    await tom.page.goto(`${stage.origin}/w/roles/billing`);
    const plan = tom.page.getByRole('region', { name: 'Pro' });
    await plan.getByText('Owners, admins and billing managers of the workspace choose its plan').waitFor();
    await tom.page.getByText('0 B of 20 GB').waitFor();
    expect(await tom.page.getByRole('heading', { name: 'Cards' }).count()).toBe(0);
    expect(await tom.page.getByRole('main').getByRole('button').count()).toBe(0);
    await isSound(tom, 'member');
    expect(unexpected(tom.troubles)).toEqual([]);

    // The plan ends while a screen still offers what it had.
    await page.getByRole('link', { name: 'Data', exact: true }).click();
    const enable = page.getByRole('main').getByRole('button');
    await enable.waitFor();
    await client.billing.cancel({ body: { workspace_id: workspaceId, at: 'now' } });
    await enable.click();
    const refused = page.getByRole('alert').filter({ hasText: 'This needs another plan.' });
    await refused.getByText('It comes with the plan "pro"; this workspace has "free".').waitFor();
    expect(await refused.innerText()).not.toContain('redirect_url');
    await isSound(person, 'refused');
    await refused.getByRole('link', { name: 'See plans' }).click();
    await page.getByText('Nothing was deleted; choose a plan to go on.').waitFor();
    expect(new URL(page.url()).pathname).toBe('/w/roles/billing');

    // A page of one's own that shall be public.
    const id = await publishPage(client, 'Open plans');
    await page.goto(`${stage.origin}/p/${id}`);
    await page.getByRole('radio', { name: /^Public/ }).check();
    await page.getByRole('dialog').getByRole('button', { name: 'Change', exact: true }).click();
    const held = page.getByRole('status').filter({ hasText: 'The visibility has not changed.' });
    await held.waitFor();
    await isSound(person, 'held');
    await held.getByRole('link', { name: 'See plans' }).click();
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
    expect(unexpected(person.troubles).filter((trouble) => !/\b402\b/.test(trouble))).toEqual([]);
  });

  it('fits a phone, in Spanish and in the dark, also where a payment was declined', async () => {
    const look = { colorScheme: 'dark', locale: 'es-ES', viewport: { width: 390, height: 800 } } as const;
    const person = await owner('phone', look);
    const { page, client, workspaceId } = person;
    await client.billing.subscribe({ body: { workspace_id: workspaceId, plan_id: 'team_yearly' } });
    const { subscription_id } = await subscription(person);
    await client.billing.card({ body: { subscription_id, token: 'tok_insufficient_funds' } });
    await page.goto(`${stage.origin}/my/billing`);
    await page.getByRole('link', { name: 'Plan y facturación de Studio phone' }).waitFor();
    await isSound(person, 'phone mine');
    await page.getByRole('link', { name: 'Plan y facturación de Studio phone' }).click();
    const plan = page.getByRole('region', { name: 'Team, anual, 1 plaza' });
    await plan.getByText('La prueba termina el').waitFor();
    await plan.getByRole('button', { name: 'Cambiar plan o plazas' }).click();
    await page.getByRole('dialog').getByText('Este es el plan del espacio.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Mensual' }).click();
    await page.getByRole('dialog').getByText('no se cobra nada durante la prueba').waitFor();
    await isSound(person, 'phone change');
    await page.keyboard.press('Escape');
    await pass(person, 14 * DAY_MS, ({ status }) => status === 'past_due');
    await plan.getByRole('alert').getByText('fue rechazado. Todo sigue funcionando. Paga antes del').waitFor();
    await page.getByRole('listitem').filter({ hasText: 'Factura EASEL-000001' }).getByText('Pendiente').waitFor();
    await isSound(person, 'phone past due');
    await plan.getByRole('button', { name: 'Añadir una tarjeta' }).click();
    await saveCard(person, 'mastercard ···· 4444', ['Guardar esta tarjeta', 'La tarjeta está guardada', 'Volver']);
    await plan.getByText('El próximo pago de').waitFor();
    await page.getByRole('listitem').filter({ hasText: 'Factura EASEL-000001' }).getByText('Pagada').waitFor();
    await isSound(person, 'phone paid');
    expect(troublesOf(person)).toEqual([]);
  });
});
