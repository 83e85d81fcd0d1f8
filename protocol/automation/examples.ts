/** Examples of what pages and jobs do with the outside. */

import { EXAMPLE_IDS } from '../core/example.ts';
import { jobExamples } from './job-examples.ts';
import { mailExamples } from './mail-examples.ts';
import { webhookExamples } from './webhook-examples.ts';

const data = { params: { artifactId: EXAMPLE_IDS.artifact } };
const config = { hosts: ['api.example.com', '*.example.org'], cacheS: 60 };

export const automationExamples = {
  ...jobExamples,
  ...webhookExamples,
  ...mailExamples,
  'proxy.get': { ...data, query: { url: 'https://api.example.com/weather?city=Lima' } },
  'proxy.getConfig': data,
  'jobs.preview': {
    body: { schedule: '0 9 * * 1-5', timezone: 'Europe/Berlin' },
    reply: {
      valid: true,
      error: null,
      param: null,
      human: {
        en: 'At 09:00, Monday through Friday (Europe/Berlin)',
        es: 'A las 09:00, de lunes a viernes (Europe/Berlin)',
      },
      next: [
        '2026-03-02T08:00:00.000Z',
        '2026-03-03T08:00:00.000Z',
        '2026-03-04T08:00:00.000Z',
        '2026-03-05T08:00:00.000Z',
        '2026-03-06T08:00:00.000Z',
      ],
    },
  },
  'proxy.putConfig': { ...data, body: config, reply: { success: true, data: config } },
} as const;
