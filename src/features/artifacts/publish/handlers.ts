/** The endpoints of `/v1/publish`. */
import type { z } from 'zod';
import type { PublishRequest, publishResponse } from '../../../../protocol/artifacts/publish.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { Handlers } from '../../../edge/call.ts';
import { type Config, pageUrl } from '../../../platform/config.ts';
import { heldNotice } from '../artifacts/rules.ts';
import { readInlineFiles } from './contents.ts';
import { type Cargo, checkPublish, type PublishDeps, type Published, publish } from './publish.ts';
import { publishHeaders } from './publish-limit.ts';
import { requireEntrypoint } from './rules.ts';
import { type Publisher, publisherOf } from './target.ts';
import { openUpload, readDigestFiles, receiveContent, resolveUpload } from './uploads.ts';

export function publishHandlers(deps: PublishDeps): Handlers<'publish.publish' | 'publish.upload'> {
  return {
    'publish.publish': async (call) => {
      const { body } = call;
      const publisher = publisherOf(call.principal, call);
      if (body.files_digest !== undefined && body.upload_id === undefined) return beginUpload(deps, publisher, body);
      // Before the contents are decoded and hashed, which is most of the work.
      await checkPublish(deps, publisher, body);
      const cargo = await readCargo(deps, publisher, body);
      const published = await publish(deps, publisher, body, cargo);
      return publishReply(published, deps.config);
    },
    'publish.upload': async ({ principal, params, body }) => {
      await receiveContent(deps, publisherOf(principal), params.upload_id, params.sha256, body);
      return { reply: 'created', body: { sha256: params.sha256, size_bytes: body.length } };
    },
  };
}

/** First phase by digest: refuses what the second phase would refuse, before contents are sent. Spends no publish. */
async function beginUpload(deps: PublishDeps, publisher: Publisher, body: PublishRequest) {
  const files = readDigestFiles(body.files_digest ?? []);
  requireEntrypoint(body.entrypoint, files);
  const { allowance } = await checkPublish(deps, publisher, body);
  const upload = await openUpload(deps, publisher, files);
  return { reply: 'missing' as const, body: upload, headers: publishHeaders(allowance) };
}

async function readCargo(deps: PublishDeps, publisher: Publisher, body: PublishRequest): Promise<Cargo> {
  if (body.files_digest !== undefined && body.upload_id !== undefined) {
    const files = await resolveUpload(deps, publisher, body.upload_id, readDigestFiles(body.files_digest));
    return { files, contents: new Map(), uploadId: body.upload_id };
  }
  if (body.upload_id !== undefined) {
    throw new Failure('INVALID_REQUEST', { param: 'upload_id', message: 'upload_id: goes with files_digest, not with files.' });
  }
  return { ...(await readInlineFiles(publisher.id, body.files ?? [])), uploadId: null };
}

const REVIEW_HELD = {
  held: 'REVIEW_REQUIRED',
  notice: 'This version goes live when owners or admins of the workspace have approved it.',
} as const;

type PublishBody = z.input<typeof publishResponse>;

/** The reply to a publish and to an import. */
export function publishReply(published: Published, config: Pick<Config, 'baseUrl' | 'contentHost'>) {
  const headers = publishHeaders(published.allowance);
  const body: PublishBody = {
    artifact: { id: published.artifactId },
    version: { id: published.versionId, version_no: published.versionNo },
    deployment: { slug: published.slug, url: pageUrl(config, published.slug) },
  };
  if (published.held) {
    const notice = heldNotice(published.visibility);
    const both = published.waits ? { held: REVIEW_HELD.held, notice: `${notice.notice} ${REVIEW_HELD.notice}` } : {};
    return { reply: 'held' as const, body: { ...body, ...notice, ...both }, headers };
  }
  return { reply: 'ok' as const, body: published.waits ? { ...body, ...REVIEW_HELD } : body, headers };
}
