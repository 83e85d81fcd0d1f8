/** The texts of mail on behalf of a page, in English. */
import { pluralIn } from './plural.ts';

const plural = pluralIn('en');

export const enMail = {
  mail: {
    log: 'What was sent',
    logText: 'Mail on behalf of this page in the last 30 days: 10 a day.',
    empty: {
      title: 'No mail yet',
      text: 'Mail that you or jobs send on behalf of this page is listed here, and what visitors write to you.',
    },
    to: (name: string, more: number) => (more === 0 ? `to ${name}` : `to ${name} and ${plural(more, 'other', 'others')}`),
    owner: 'the owner',
    files: 'Attached files',
    status: { queued: 'Waits', sent: 'Sent', failed: 'Failed', suppressed: 'Not sent', partly_sent: 'Partly sent' },
    suppressed: 'They have unsubscribed, or there is no such address.',
    fromVisitor: 'A visitor wrote to the owner',
    templates: 'Templates',
    templatesText: 'Texts of mails with values in them: those of this page and of your account.',
    noTemplates: 'No templates yet.',
    newTemplate: 'New template',
    ofAccount: 'Your account',
    ofPage: 'This page',
    back: 'All mail of this page',
    name: 'Name',
    subject: 'Subject',
    html: 'HTML',
    htmlHint: '{{data.name}} is a value, escaped; {{#data.list}}…{{/data.list}} repeats a part for each item.',
    text: 'Text',
    textHint: 'Empty: the text of the HTML.',
    scope: 'Belongs to',
    sample: 'Values to try',
    sampleHint: 'JSON, for example {"name": "Ada"}. They are not stored.',
    sampleWrong: 'This is not a JSON object.',
    preview: 'Preview',
    previewFrame: 'The mail with these values',
    previewEmpty: 'Write a subject and HTML, and the mail appears here.',
    asText: 'As text',
    saved: 'Template saved.',
    deleted: 'Template deleted.',
    delete: 'Delete template',
    deleteText: (name: string) => `Delete “${name}”? Jobs that use it will fail.`,
    missing: { title: 'There is no such template', text: 'It was deleted, or belongs to another page.' },
  },
};
