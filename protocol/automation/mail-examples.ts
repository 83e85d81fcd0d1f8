/** Examples of mail on behalf of pages. */
import { AT, EXAMPLE_IDS, inWorkspace } from '../core/example.ts';

const data = { params: { artifactId: EXAMPLE_IDS.artifact } };
const unsubscribe = { params: { token: `YXJ0X2szdnE3bTJ4dzV0ejRuZGg2YjJjcnB5ZiBhZGFAZXhhbXBsZS5jb20.${'k'.repeat(43)}` } };
const mail = {
  id: EXAMPLE_IDS.mailBatch,
  artifact_id: EXAMPLE_IDS.artifact,
  sender_id: EXAMPLE_IDS.user,
  purpose: 'page',
  subject: 'The new map',
  status: 'sent',
  recipients: [{ to: 'grace@example.com', status: 'sent', attempts: 1, error: null, sent_at: AT }],
  attachments: [],
  created_at: AT,
} as const;

const ofTemplate = { params: { templateId: EXAMPLE_IDS.template } };
const sources = { subject: 'News for {{data.name}}', html: '<p>Hello {{data.name}}</p>', text_body: 'Hello {{data.name}}' };
const rendered = { subject: 'News for Grace', html: '<p>Hello Grace</p>', text: 'Hello Grace', warnings: [] };
const template = {
  id: EXAMPLE_IDS.template,
  artifact_id: null,
  owner_id: EXAMPLE_IDS.user,
  name: 'News',
  ...sources,
  variables: [{ name: 'name', type: 'string', required: true }],
  is_system: false,
  created_at: 1_767_605_400_000,
  updated_at: 1_767_605_400_000,
} as const;
const ofMail = { params: { ...inWorkspace.params, kind: 'invite', locale: 'en' } };
const systemMail = {
  subject: 'Welcome to {{data.workspace}}',
  html: '<p><a href="{{data.url}}">Join {{data.workspace}}</a></p>',
  text_body: 'Join {{data.workspace}}: {{data.url}}',
};

export const mailExamples = {
  'email.send': {
    body: { artifact_id: EXAMPLE_IDS.artifact, to: ['grace@example.com'], subject: 'The new map', text: 'It is there now.' },
    reply: { id: EXAMPLE_IDS.mailBatch, status: 'queued' },
  },
  'email.list': {
    query: { artifact_id: EXAMPLE_IDS.artifact, limit: '5', count: 'true' },
    reply: { emails: [mail], has_more: false, next_cursor: null, total: 1 },
  },
  'email.get': { params: { emailId: EXAMPLE_IDS.mailBatch }, reply: mail },
  'email.challenge': data,
  'email.notifyOwner': {
    ...data,
    body: { subject: 'A question', text: 'Is the museum open on Mondays?', replyTo: 'grace@example.com' },
    reply: { success: true, data: { sent: true, messageId: EXAMPLE_IDS.mailBatch } },
  },
  'templates.list': { query: { scope: 'all', limit: '5', count: 'true' } },
  'templates.create': { body: { name: 'News', ...sources, variables: [{ name: 'name', type: 'string', required: true }] } },
  'templates.previewInline': { body: { ...sources, data: { name: 'Grace' } }, reply: { success: true, data: rendered } },
  'templates.get': { ...ofTemplate, reply: { success: true, data: { template } } },
  'templates.update': { ...ofTemplate, body: { subject: 'News for you, {{data.name}}' } },
  'templates.delete': ofTemplate,
  'templates.preview': { ...ofTemplate, body: { data: { name: 'Grace' } }, reply: { success: true, data: rendered } },
  'templates.rehearse': {
    ...ofTemplate,
    body: { artifact_id: EXAMPLE_IDS.artifact, to: ['grace@example.com'], data: { name: 'Grace' } },
    reply: {
      success: true,
      data: {
        would: { send: [{ to: 'grace@example.com', subject: rendered.subject, status: 'queued' }] },
        refused: null,
        ...rendered,
      },
    },
  },
  'systemMails.list': inWorkspace,
  'systemMails.get': ofMail,
  'systemMails.put': { ...ofMail, body: systemMail },
  'systemMails.reset': ofMail,
  'pages.mailPreview': { body: 'html=%3Cp%3EHello%3C%2Fp%3E' },
  'pages.unsubscribe': unsubscribe,
  'pages.unsubscribeForm': { ...unsubscribe, body: 'List-Unsubscribe=One-Click' },
} as const;
