/** The endpoints that export an artifact as a zip and import one. */
import type { Handlers } from '../../../edge/call.ts';
import { streamOf } from '../../../edge/reply-stream.ts';
import { publishReply } from '../publish/handlers.ts';
import { publisherOf } from '../publish/target.ts';
import { Exports } from './export.ts';
import { type ImportDeps, importArtifact } from './import.ts';

export function archiveHandlers(deps: ImportDeps): Handlers<'artifacts.export' | 'artifacts.import'> {
  const exports = new Exports(deps);
  return {
    'artifacts.export': async ({ params }) => {
      const { fileName, pieces } = await exports.begin(params.id);
      return {
        reply: 'ok',
        body: '',
        stream: streamOf(pieces),
        type: 'application/zip',
        headers: { 'Content-Disposition': `attachment; filename="${fileName}"` },
      };
    },
    'artifacts.import': async (call) => {
      const { principal, user, query, body } = call;
      const publisher = { ...publisherOf(principal, call), userId: user };
      const reply = publishReply(await importArtifact(deps, publisher, body, query), deps.config);
      return reply.reply === 'held' ? reply : { ...reply, reply: 'created' };
    },
  };
}
