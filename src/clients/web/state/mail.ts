/** Mail on behalf of a page, and templates. */
import { api, type Email, type Template } from '../api/client.ts';
import { pageOf, usePages } from './pages.ts';
import { changed, forget, useLoaded } from './store.ts';

export function useEmails(artifactId: string) {
  return usePages<Email>(`emails:${artifactId}`, async (cursor) => {
    const { body } = await api.email.list({ query: { artifact_id: artifactId, cursor } });
    return pageOf(body.emails, body);
  });
}

/** Those of the page and of the account. */
export function useTemplates(artifactId: string) {
  return usePages<Template>(`templates:${artifactId}`, async (cursor) => {
    const { data } = (await api.templates.list({ query: { artifact_id: artifactId, cursor } })).body;
    return pageOf(data.templates, data);
  });
}

export function useTemplate(templateId: string) {
  return useLoaded(`template:${templateId}`, async () => {
    const { body, headers } = await api.templates.get({ params: { templateId } });
    return { template: body.data.template, etag: headers.get('etag') ?? undefined };
  });
}

export type TemplateSources = Pick<Template, 'name' | 'subject' | 'html' | 'text_body'>;

/** `etag`: of what was read; another change since then is not overwritten. */
export async function saveTemplate(templateId: string, body: TemplateSources, etag: string | undefined): Promise<void> {
  await api.templates.update({ params: { templateId }, body, ...(etag !== undefined && { ifMatch: etag }) });
  changed('templates:', `template:${templateId}`);
}

export async function createTemplate(body: TemplateSources & { readonly artifact_id: string | null }): Promise<string> {
  const { template } = (await api.templates.create({ body })).body.data;
  changed('templates:');
  return template.id;
}

export async function deleteTemplate(templateId: string): Promise<void> {
  await api.templates.delete({ params: { templateId } });
  // Its screen is still open, and must not look for what is gone.
  forget(`template:${templateId}`);
  changed('templates:');
}
