/** Raw requests to a page's own origin: any host, and a path that no client has normalised. */
import { request } from 'node:http';

export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** As received, not decompressed. */
  readonly body: Buffer;
}

export interface WireOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The local address of the request, in 127.0.0.0/8. */
  readonly from?: string;
}

export function wire(port: number, host: string, path: string, options: WireOptions = {}): Promise<WireAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: '127.0.0.1',
        port,
        path,
        method: options.method ?? 'GET',
        headers: { ...options.headers, host },
        agent: false,
        ...(options.from !== undefined && { localAddress: options.from }),
      },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: Buffer.concat(chunks) }));
      },
    );
    outgoing.on('error', reject);
    outgoing.end(options.body);
  });
}
