/** Requests to a page's own origin. */
import { get, type IncomingHttpHeaders } from 'node:http';

export interface Page {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Requests an address of a page from the service at `port`. Uses node:http, because fetch overwrites the Host header. */
export function getPage(port: number, address: string, headers: Readonly<Record<string, string>> = {}): Promise<Page> {
  const { host, pathname, search } = new URL(address);
  return new Promise((resolve, reject) => {
    const request = get({ host: '127.0.0.1', port, path: pathname + search, headers: { ...headers, host } }, async (response) => {
      let text = '';
      for await (const chunk of response.setEncoding('utf8')) text += chunk;
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
    });
    request.once('error', reject);
  });
}
