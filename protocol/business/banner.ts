/** One line that everybody sees, for example about maintenance. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, storedText, success } from '../core/fields.ts';
import { LIMITS } from '../core/limits.ts';
import { absentOrNull } from '../core/round-trip.ts';
import { instanceAdmin } from './access.ts';

export const bannerLevel = z.enum(['info', 'warning', 'critical']);

export const banner = z.object({
  text: z.string(),
  level: bannerLevel,
  from: dateTime.nullable().meta({ description: 'null: at once' }),
  to: dateTime.nullable().meta({ description: 'null: until it is taken down' }),
});

const time = absentOrNull(z.iso.datetime({ offset: true }));

const wanted = z
  .strictObject({
    text: storedText(LIMITS.bannerCharsMax).trim().min(1),
    level: bannerLevel.default('info'),
    from: time,
    to: time,
  })
  .refine(({ from, to }) => from === undefined || to === undefined || Date.parse(from) < Date.parse(to), {
    path: ['to'],
    message: 'must be after from',
  });

/** An answer can be sent back, also one without a banner. After the transform: the banner, null for none. */
export const newBanner = z
  .union([wanted, z.strictObject({ banner: wanted.nullable() })])
  .transform((given) => ('banner' in given ? given.banner : given));

const bannerReply = z.object({ banner: banner.nullable() });

export const banners = {
  'banner.current': endpoint({
    method: 'GET',
    path: '/v1/banner',
    group: 'instance',
    summary: 'What everybody is told now, or will be told from its time on; null where there is nothing.',
    access: { who: 'anyone' },
    limit: 'none',
    conditional: true,
    replies: { ok: { status: 200, body: bannerReply } },
    errors: [],
  }),
  'banner.set': endpoint({
    method: 'PUT',
    path: '/v1/admin/banner',
    group: 'instance',
    summary: 'Puts up a banner, or another in its place. The app and our own pages show it from `from` until `to`.',
    access: instanceAdmin,
    limit: 'adminCalls',
    conditional: true,
    resource: 'banner.stored',
    body: { kind: 'json', schema: newBanner, bytesMax: LIMITS.bodyBytesMax },
    replies: { ok: { status: 200, body: bannerReply } },
    errors: ['VERSION_CONFLICT'],
  }),
  'banner.stored': endpoint({
    method: 'GET',
    path: '/v1/admin/banner',
    group: 'instance',
    summary: 'The banner as it is stored, also before its time and after it.',
    access: instanceAdmin,
    limit: 'adminCalls',
    conditional: true,
    replies: { ok: { status: 200, body: bannerReply } },
    errors: [],
  }),
  'banner.clear': endpoint({
    method: 'DELETE',
    path: '/v1/admin/banner',
    group: 'instance',
    summary: 'Takes the banner down.',
    access: instanceAdmin,
    limit: 'adminCalls',
    conditional: true,
    resource: 'banner.stored',
    replies: { ok: { status: 200, body: success } },
    errors: ['VERSION_CONFLICT'],
  }),
} as const;
