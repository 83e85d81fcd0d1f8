/** The mail of an installation without an SMTP server, for whoever tries it out on their own machine. */
import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { idSchema } from './ids.ts';

const page = {
  method: 'GET',
  group: 'operations',
  access: { who: 'visitor' },
  limit: 'none',
  replies: { page: { status: 200, media: 'text/html' } },
  errors: ['NOT_FOUND', 'MAIL_NOT_FOUND', 'ADMIN_REQUIRED'],
} as const;
const params = z.object({ id: idSchema('mail') });

export const devMail = {
  'devMail.list': endpoint({
    ...page,
    path: '/dev/mail',
    summary: 'The mail that was not sent, because no SMTP server is configured. On the own machine, and for administrators.',
  }),
  'devMail.show': endpoint({ ...page, path: '/dev/mail/{id}', params, summary: 'One of these mails.' }),
  'devMail.html': endpoint({ ...page, path: '/dev/mail/{id}/html', params, summary: 'Its HTML part, in a sandbox.' }),
} as const;
