/** Asset libraries: files with versions, collections and share links, of a person or of a workspace. Source: contract.md §9 and §16. */
import { z } from 'zod';
import { dataPageReply, dateTime, nameSchema } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { absentOrNull, changesTo } from '../core/round-trip.ts';
import { blob } from '../data/blobs.ts';

export const deliverable = z.object({
  id: idSchema('deliverable'),
  name: z.string(),
  mimeType: z.string(),
  sizeBytes: z.number().int(),
  versionNo: z.number().int(),
  contentUrl: z.url().meta({ description: 'the bytes of the newest version' }),
  thumbnailUrl: z.url().nullable().meta({ description: 'a picture of an image, a PDF or a video, as soon as there is one' }),
  createdBy: z.string(),
  createdAt: dateTime,
  updatedAt: dateTime,
});

/** A file that is no version of a deliverable. */
export const looseFile = blob.extend({ thumbnailUrl: z.url().nullable(), createdBy: z.string() });

export const assetPage = z.object({
  deliverables: z.array(deliverable),
  loose: z.array(looseFile),
  usedBytes: z.number().int().meta({ description: 'of the whole library, with every version' }),
  ...dataPageReply,
});

export const deliverableVersion = z.object({
  versionNo: z.number().int(),
  filename: z.string(),
  mimeType: z.string(),
  sizeBytes: z.number().int(),
  contentUrl: z.url(),
  createdBy: z.string(),
  createdAt: dateTime,
});

export const collection = z.object({
  id: idSchema('collection'),
  name: z.string(),
  itemCount: z.number().int(),
  createdBy: z.string(),
  createdAt: dateTime,
  updatedAt: dateTime,
});

export const linkGate = z.enum(['none', 'password', 'domain']);
export type LinkGate = z.infer<typeof linkGate>;

export const shareLink = z.object({
  id: idSchema('shareLink'),
  url: z.url(),
  gate: linkGate,
  domain: z.string().nullable().meta({ description: 'with the gate domain: of the proved addresses that may open it' }),
  expiresAt: dateTime.nullable(),
  revokedAt: dateTime.nullable(),
  views: z.number().int(),
  createdAt: dateTime,
});

export const newDeliverable = z.strictObject({
  blobId: idSchema('blob').meta({ description: 'a loose file of this library' }),
  name: absentOrNull(nameSchema).meta({ description: "default: the file's name" }),
});
export const newVersion = newDeliverable.pick({ blobId: true });
export const deliverableUpdate = changesTo(deliverable, { name: nameSchema });
export const newCollection = z.strictObject({ name: nameSchema });
export const collectionUpdate = changesTo(collection, { name: nameSchema });
export const newCollectionItem = z.strictObject({ deliverableId: idSchema('deliverable') });

const DOMAIN = /^(?=.{3,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/;
const linkPassword = z.string().min(8).max(LIMITS.assetLinkPasswordCharsMax);

export const newShareLink = z
  .strictObject({
    expiresAt: absentOrNull(z.iso.datetime({ offset: true })),
    gate: linkGate.default('none'),
    password: absentOrNull(linkPassword).meta({ description: 'with the gate password' }),
    domain: absentOrNull(z.string().trim().toLowerCase().regex(DOMAIN, 'must be a domain such as example.com')).meta({
      description: 'with the gate domain',
    }),
  })
  .superRefine(({ gate, password, domain }, context) => {
    for (const [name, value] of Object.entries({ password, domain })) {
      if ((gate === name) !== (value !== undefined)) {
        const message = gate === name ? `is required with the gate ${name}` : `must be left out with the gate ${gate}`;
        context.addIssue({ code: 'custom', path: [name], message });
      }
    }
  });
