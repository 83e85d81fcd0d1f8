/** `easel.blobs` */
import type * as api from './api.ts';
import { EaselError, errorOf, parse } from './errors.ts';
import { deleted } from './json.ts';
import { tell } from './listeners.ts';
import { segment, type Transport } from './transport.ts';
import type { BlobRecord, UploadTicket } from './wire.ts';

export function blobsOf(transport: Transport): api.Blobs {
  return {
    async upload(file, options = {}) {
      const filename = options.filename ?? (file as Partial<File>).name ?? 'file';
      const mimeType = options.mimeType ?? file.type;
      const { size } = file;
      const { signal } = options;
      const ticket = await transport.call<UploadTicket>({
        method: 'POST',
        path: '/blobs/upload',
        body: { filename, mimeType, size },
        signal,
      });
      return send(transport, ticket, file, mimeType, options);
    },
    list: ({ limit, cursor, signal } = {}) => transport.call({ method: 'GET', path: '/blobs', query: { limit, cursor }, signal }),
    url: (blob) => transport.url(`/blobs/${segment(typeof blob === 'string' ? blob : blob.id)}/content`),
    delete: (id, { signal } = {}) => deleted(transport, { method: 'DELETE', path: `/blobs/${segment(id)}`, signal }, 'BLOB_NOT_FOUND'),
  };
}

/** With XMLHttpRequest, because fetch does not report upload progress. */
function send(transport: Transport, ticket: UploadTicket, file: Blob, mimeType: string, options: api.UploadOptions): Promise<BlobRecord> {
  const { signal, onProgress } = options;
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('PUT', nearUrl(transport, ticket.uploadUrl));
    request.setRequestHeader('Content-Type', mimeType);
    request.upload.onprogress = ({ loaded }) => onProgress && tell(onProgress, { sentBytes: loaded, totalBytes: file.size });
    request.onload = () => {
      const body = request.status < 300 ? parse(request.responseText) : undefined;
      if (body?.success === true) resolve(body.data as BlobRecord);
      else reject(errorOf(request.status, request.responseText, request.getResponseHeader('retry-after')));
    };
    request.onerror = () =>
      reject(new EaselError({ code: 'NETWORK_ERROR', status: 0, message: 'The connection was lost during the upload.' }));
    request.onabort = () => reject(signal?.reason);
    if (signal?.aborted) return reject(signal.reason);
    signal?.addEventListener('abort', () => request.abort(), { once: true });
    request.send(file);
  });
}

/** The server answers with the address on the API's host. The page's own origin serves the same path and needs no CORS preflight. */
function nearUrl(transport: Transport, uploadUrl: string): string {
  const { pathname, search } = new URL(uploadUrl, 'http://x');
  const base = transport.url('');
  const ours = base.slice(base.indexOf('/v1/data/'));
  return pathname.startsWith(`${ours}/`) ? base + pathname.slice(ours.length) + search : uploadUrl;
}
