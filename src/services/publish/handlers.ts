/** The endpoints of `/v1/publish`. */
import type { z } from 'zod';
import { Failure } from '../../../protocol/errors.ts';
import type { PublishRequest, publishResponse } from '../../../protocol/schemas/artifact.ts';
import { type Config, pageUrl } from '../../config.ts';
import type { Handlers } from '../../edge/call.ts';
import { refuseWorkspace } from '../artifacts.ts';
import { requireUser } from '../principals.ts';
import { heldNotice } from '../visibility.ts';
import { readInlineFiles } from './contents.ts';
import { type Cargo, checkPublish, type PublishDeps, type Published, publish, requireEntrypoint } from './publish.ts';
import { rateHeaders } from './publish-limit.ts';
import type { Publisher } from './target.ts';
import { openUpload, readDigestFiles, receiveContent, resolveUpload } from './uploads.ts';

export function publishHandlers(deps: PublishDeps): Handlers<'publish.publish' | 'publish.upload'> {
  return {
    'publish.publish': async ({ principal, body }) => {
      const publisher = { principal, userId: requireUser(principal) };
      refuseWorkspace(body.workspace_id);
      if (body.files_digest !== undefined && body.upload_id === undefined) return beginUpload(deps, publisher, body);
      const cargo = await readCargo(deps, publisher, body);
      await checkPublish(deps, publisher, body);
      const published = await publish(deps, publisher, body, cargo);
      return publishReply(published, deps.config);
    },
    'publish.upload': async ({ principal, params, body }) => {
      await receiveContent(deps, requireUser(principal), params.upload_id, params.sha256, body);
      return { reply: 'created', body: { sha256: params.sha256, size_bytes: body.length } };
    },
  };
}

/** First phase by digest: refuses now what would be refused later, so that no content travels for nothing. Spends nothing. */
async function beginUpload(deps: PublishDeps, publisher: Publisher, body: PublishRequest) {
  const files = readDigestFiles(body.files_digest ?? []);
  requireEntrypoint(body.entrypoint, files);
  const allowance = await checkPublish(deps, publisher, body);
  const upload = await openUpload(deps, publisher.userId, files);
  return { reply: 'missing' as const, body: upload, headers: rateHeaders(allowance) };
}

async function readCargo(deps: PublishDeps, publisher: Publisher, body: PublishRequest): Promise<Cargo> {
  if (body.files_digest !== undefined && body.upload_id !== undefined) {
    const files = await resolveUpload(deps, publisher.userId, body.upload_id, readDigestFiles(body.files_digest));
    return { files, contents: new Map(), uploadId: body.upload_id };
  }
  if (body.upload_id !== undefined) {
    throw new Failure('INVALID_REQUEST', { param: 'upload_id', message: 'upload_id: goes with files_digest, not with files.' });
  }
  return { ...(await readInlineFiles(body.files ?? [])), uploadId: null };
}

type PublishBody = z.input<typeof publishResponse>;

/** What a publish answers, and an import. */
export function publishReply(published: Published, config: Pick<Config, 'baseUrl' | 'contentHost'>) {
  const headers = rateHeaders(published.allowance);
  const body: PublishBody = {
    artifact: { id: published.artifactId },
    version: { id: published.versionId, version_no: published.versionNo },
    deployment: { slug: published.slug, url: pageUrl(config, published.slug) },
  };
  if (published.held) return { reply: 'held' as const, body: { ...body, ...heldNotice(published.visibility) }, headers };
  return { reply: 'ok' as const, body, headers };
}
