/** Files of cloud drives in the web app, in Chromium: from the consent of the provider to the pages that a run makes. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { FakeDrives } from '../support/fake-drives.ts';
import { describeWith } from '../support/services.ts';
import { type AppPerson, AppStage, unexpected } from './app-stage.ts';
import { axeSource, findingsOf } from './axe.ts';
import { keepScreenshot } from './screenshot.ts';

/** What the drive answers until a test lets it go on. Far enough that no clock of a test gets there by itself. */
const PAUSE = { status: 429, headers: { 'retry-after': '60' } };

describeWith('chromiumPath')('imports in the web app', () => {
  let stage: AppStage;
  let drives: FakeDrives;
  let axe: string;

  beforeAll(async () => {
    drives = await FakeDrives.start();
    [stage, axe] = await Promise.all([AppStage.start(drives.settings), axeSource()]);
  });
  afterAll(async () => {
    await stage?.close();
    await drives?.close();
  });
  beforeEach(() => {
    drives.clear();
    drives.fault = () => undefined;
    drives.pageFiles = 2;
    drives.folder('team', 'root', 'Team');
    drives.folder('plans', 'team', 'Plans');
    drives.file('f1', 'plans', 'Notes.txt', 'The first note');
    drives.file('f2', 'plans', 'Numbers.csv', 'city,count\nOslo,3\nRome,4\n');
    drives.file('f3', 'plans', 'Film.mov', 'x');
    drives.file('f4', 'plans', 'Letter.txt', 'Dear Ada');
  });

  /** Somebody whose workspace has imports and a folder for them, on the screen of imports. */
  async function atImports(slug: string, options: Parameters<AppStage['person']>[1] = {}): Promise<AppPerson> {
    const person = await stage.person(`${slug}@example.com`, options);
    await person.page.context().route(
      (url) => url.origin === drives.url,
      (route) => route.continue(),
    );
    await person.client.workspaces.create({ body: { name: `Studio ${slug}`, slug } });
    const body = JSON.stringify({ features: { file_imports: true, catalog: true } });
    const headers = { 'content-type': 'application/json' };
    await stage.easel.fetch(`/v1/workspaces/${slug}/features`, { method: 'PATCH', token: stage.easel.adminToken, headers, body });
    await person.client.folders.create({ params: { workspaceId: slug }, body: { name: 'Team plans' } });
    await person.page.goto(`${stage.origin}/w/${slug}`);
    await person.page.getByRole('link', { name: 'Imports' }).click();
    await person.page.getByRole('heading', { name: 'No sources yet' }).waitFor();
    return person;
  }

  async function isSound({ page }: AppPerson, name: string): Promise<void> {
    await keepScreenshot(page, `imports ${name}`);
    expect(await findingsOf(page, axe)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  }

  /** The source Plans, saved by hand. */
  async function saveSource({ page }: AppPerson): Promise<void> {
    await page.getByRole('button', { name: 'Connect Google Drive' }).click();
    await page.getByText('Google Drive is connected.').waitFor();
    await page.getByText('Connected as ada@drive.example').waitFor();
    await page.getByRole('button', { name: 'Add a folder of Google Drive' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Open My Drive' }).click();
    await dialog.getByRole('button', { name: 'Open Team' }).click();
    await dialog.getByRole('button', { name: 'Choose Plans' }).click();
    await dialog.getByRole('switch', { name: 'Look for changes every day' }).check();
    await dialog.getByRole('button', { name: 'Save source' }).click();
    await page.getByRole('heading', { name: 'Plans' }).waitFor();
  }

  it('a folder is found, becomes a source, and its run is followed to the pages that it makes', async () => {
    const person = await atImports('maps');
    const { page, client, troubles } = person;
    await isSound(person, 'empty');
    await saveSource(person);
    await page.getByText('It has never run.').waitFor();
    // The second page of the folder is held back, so that the run is seen half way.
    drives.fault = (path) => (path.includes('pageToken=2') ? PAUSE : undefined);
    await page.getByRole('button', { name: 'Fetch files now: Plans' }).click();
    const last = page.getByRole('region', { name: 'Last run' });
    const counted = async (name: string) =>
      last
        .locator('div', { has: page.locator('dt', { hasText: name }) })
        .locator('dd')
        .last()
        .innerText();
    await last.getByRole('status').getByText('Running').waitFor();
    await expect.poll(() => counted('Imported')).toBe('1');
    expect([await counted('Found'), await counted('Converted')]).toEqual(['2', '1']);
    await last.getByRole('progressbar').waitFor();
    await isSound(person, 'running');
    drives.fault = () => undefined;
    stage.easel.clock.advance(61_000);
    await last.getByRole('status').getByText('Completed').waitFor();
    expect([await counted('Found'), await counted('Imported'), await counted('Skipped')]).toEqual(['4', '2', '1']);
    await last.getByText('Film.mov').waitFor();
    await last.getByText('Files of this type cannot be imported.').waitFor();
    await isSound(person, 'completed');
    const runs = page.getByRole('region', { name: 'Runs' });
    await runs.getByText('3 new or changed, 0 unchanged').waitFor();

    // Somebody else begins a run while this screen does not know of it.
    await page.getByRole('link', { name: 'All imports' }).click();
    const row = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'Plans' }) });
    await row.getByText('3 new or changed').waitFor();
    drives.file('f5', 'plans', 'Later.txt', 'Later');
    drives.fault = (path) => (path.includes('/changes?') ? PAUSE : undefined);
    const { sources } = (await client.fileImports.list({ params: { workspaceId: 'maps' } })).body;
    const { id = '' } = sources[0] ?? {};
    await client.fileImports.sync({ params: { workspaceId: 'maps', sourceId: id } });
    await row.getByRole('button', { name: 'Fetch files now: Plans' }).click();
    await page.getByText('A run is under way already.').waitFor();
    await row.getByText('Running').waitFor();
    await keepScreenshot(page, 'imports list');
    await row.getByRole('link', { name: 'Plans' }).click();
    await page.getByRole('button', { name: 'Cancel the run' }).click();
    await last.getByText('It was canceled.', { exact: false }).waitFor();
    drives.fault = () => undefined;

    await page.getByRole('link', { name: 'Pages in Team plans' }).click();
    for (const name of ['Notes.txt', 'Numbers.csv', 'Letter.txt']) await page.getByRole('link', { name }).first().waitFor();

    // The catalog knows where the rows of the sheet are from.
    await client.catalog.enable({ params: { workspaceId: 'maps' } });
    await page.goto(`${stage.origin}/w/maps/catalog`);
    await page.getByRole('link', { name: 'Numbers.csv · rows' }).waitFor();
    const [rows] = (await client.catalog.list({ params: { workspaceId: 'maps' }, query: { kind: 'dataset' } })).body.entries;
    await page.goto(`${stage.origin}/w/maps/catalog/${rows?.id}`);
    const graph = page.getByRole('navigation', { name: 'Where it comes from' });
    await graph.getByText('Import · Google Drive').waitFor();
    await isSound(person, 'lineage');
    await graph.getByRole('link', { name: 'Plans' }).click();
    await page.getByRole('heading', { name: 'Plans' }).waitFor();

    // A failure says what was wrong, where it is the last run and in the list; this pause is longer than a run waits.
    drives.fault = () => ({ status: 500, headers: { 'retry-after': '3600' } });
    await page.getByRole('button', { name: 'Fetch files now: Plans' }).click();
    for (const region of [last, runs]) await region.getByText('The provider answers with the status 500.', { exact: false }).waitFor();
    expect(unexpected(troubles).filter((trouble) => !/\b409\b/.test(trouble))).toEqual([]);
  });

  it('an access that was withdrawn is said plainly, and connected again; rules are changed, sites are searched', async () => {
    const person = await atImports('revoked');
    const { page, troubles } = person;
    await saveSource(person);
    await page.getByRole('button', { name: 'Rules' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('switch', { name: 'Convert documents and sheets' }).uncheck();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Files are stored as they are · Every day').waitFor();

    drives.revoke();
    await page.getByRole('button', { name: 'Fetch files now: Plans' }).click();
    const last = page.getByRole('region', { name: 'Last run' });
    await last.getByRole('status').getByText('Stopped').waitFor();
    await last.getByText('The drive does not let Easel in any more.', { exact: false }).waitFor();
    await isSound(person, 'revoked source');
    await page.getByRole('link', { name: 'All imports' }).click();
    await page.getByText('Access withdrawn').waitFor();
    await isSound(person, 'revoked');
    await page.getByRole('button', { name: 'Connect again: Google Drive' }).first().click();
    await page.getByText('Google Drive is connected.').waitFor();
    const row = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'Plans' }) });
    await row.getByRole('button', { name: 'Fetch files now: Plans' }).waitFor();

    await page.getByRole('button', { name: 'Connect OneDrive and SharePoint' }).click();
    await page.getByText('Connected as ada@office.example').waitFor();
    await page.getByRole('button', { name: 'Add a folder of OneDrive and SharePoint' }).click();
    await dialog.getByLabel('Search sites').fill('North');
    await dialog.getByRole('button', { name: 'Open Found North' }).click();
    await dialog.getByRole('button', { name: 'Choose Documents' }).waitFor();
    await isSound(person, 'browse');
    expect(unexpected(troubles)).toEqual([]);
  });

  it('fits a phone, in Spanish and in the dark', async () => {
    const look = { colorScheme: 'dark', locale: 'es-ES', viewport: { width: 360, height: 740 } } as const;
    const person = await stage.person('phone@example.com', look);
    const { page, client } = person;
    await page.context().route(
      (url) => url.origin === drives.url,
      (route) => route.continue(),
    );
    await client.workspaces.create({ body: { name: 'Studio', slug: 'phone' } });
    await page.goto(`${stage.origin}/w/phone/imports`);
    await page.getByText('Aquí no hay unidades').waitFor();
    const body = JSON.stringify({ features: { file_imports: true } });
    const headers = { 'content-type': 'application/json' };
    await stage.easel.fetch('/v1/workspaces/phone/features', { method: 'PATCH', token: stage.easel.adminToken, headers, body });
    await page.reload();
    await page.getByRole('button', { name: 'Conectar Google Drive' }).click();
    await page.getByText('Google Drive está conectado.').waitFor();
    await page.getByRole('button', { name: 'Añadir una carpeta de Google Drive' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Abrir My Drive' }).click();
    await dialog.getByRole('button', { name: 'Abrir Team' }).waitFor();
    await isSound(person, 'phone browse');
    await dialog.getByRole('button', { name: 'Elegir «My Drive»' }).click();
    await dialog.getByRole('button', { name: 'Nueva carpeta' }).click();
    await page.getByLabel('Nombre').fill('Planes');
    await page.getByRole('button', { name: 'Crear carpeta' }).click();
    await dialog.getByLabel('Carpeta de destino').waitFor();
    await isSound(person, 'phone rules');
    await dialog.getByRole('button', { name: 'Guardar origen' }).click();
    await page.getByRole('button', { name: 'Traer archivos ahora: My Drive' }).click();
    const last = page.getByRole('region', { name: 'Última ejecución' });
    await last.getByRole('status').getByText('Completada').waitFor();
    await isSound(person, 'phone source');
    await page.getByRole('link', { name: 'Todas las importaciones' }).click();
    await page.getByRole('link', { name: 'My Drive' }).waitFor();
    await isSound(person, 'phone list');
  });
});
