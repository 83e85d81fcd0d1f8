/** The endpoints that turn an artifact into a zip and back. */
import type { Handlers } from '../../edge/call.ts';
import { requireUser } from '../principals.ts';
import { publishReply } from '../publish/handlers.ts';
import type { PublishDeps } from '../publish/publish.ts';
import { exportArtifact } from './export.ts';
import { importArtifact } from './import.ts';

export function archiveHandlers(deps: PublishDeps): Handlers<'artifacts.export' | 'artifacts.import'> {
  return {
    'artifacts.export': async ({ params }) => {
      const { fileName, pieces } = await exportArtifact(deps, params.id);
      const chunks: Uint8Array[] = [];
      for await (const piece of pieces) chunks.push(piece);
      return {
        reply: 'ok',
        body: Buffer.concat(chunks),
        type: 'application/zip',
        headers: { 'Content-Disposition': `attachment; filename="${fileName}"` },
      };
    },
    'artifacts.import': async ({ principal, query, body }) => {
      const publisher = { principal, userId: requireUser(principal) };
      const reply = publishReply(await importArtifact(deps, publisher, body, query), deps.config);
      return reply.reply === 'held' ? reply : { ...reply, reply: 'created' };
    },
  };
}
