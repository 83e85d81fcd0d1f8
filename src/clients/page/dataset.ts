/** `easel.dataset(name)` */
import type { Dataset } from './api-datasets.ts';
import type { CallOptions } from './api-outside.ts';
import type { ArtifactChannel } from './channel.ts';
import { EaselError, isCode } from './errors.ts';
import { tell } from './listeners.ts';
import { segment, type Transport } from './transport.ts';
import type { DatasetInfo } from './wire.ts';

export interface DatasetDeps {
  readonly transport: Transport;
  readonly channel: ArtifactChannel;
  readonly failed: (error: EaselError) => void;
}

export function datasetOf<T extends object>({ transport, channel, failed }: DatasetDeps, name: string): Dataset<T> {
  const path = `/datasets/${segment(name)}`;

  async function info({ signal }: CallOptions = {}): Promise<DatasetInfo | undefined> {
    try {
      return await transport.call<DatasetInfo>({ method: 'GET', path, signal });
    } catch (error) {
      if (isCode(error, 'DATASET_NOT_FOUND')) return undefined;
      throw error;
    }
  }

  return {
    info,
    rows({ filter, fields, ...query } = {}, { signal } = {}) {
      const wanted = { ...query, filter: filter && JSON.stringify(filter), fields: fields?.join() };
      return transport.call({ method: 'GET', path: `${path}/rows`, query: wanted, signal });
    },
    all: ({ version, signal } = {}) =>
      transport.call({ method: 'GET', path: `${path}/content`, query: { format: 'json', version }, bare: true, signal }),
    put: (rows, { signal } = {}) => transport.call({ method: 'PUT', path, body: rows, signal }),
    url: (format = 'csv', version) => transport.url(`${path}/content`, { format, version }),
    onChange(listener) {
      let isOver = false;
      /** Changes while it reads cause another read after it. */
      let isDue = false;
      let isReading = false;
      const read = async () => {
        isDue = true;
        if (isReading) return;
        isReading = true;
        try {
          while (isDue && !isOver) {
            isDue = false;
            const now = await info();
            if (!isOver) tell(listener, now);
          }
        } catch (error) {
          failed(
            error instanceof EaselError ? error : new EaselError({ code: 'UNREADABLE_REPLY', status: 0, message: String(error) }, error),
          );
        } finally {
          isReading = false;
        }
      };
      const stop = channel.subscribe('datasets', ({ type, data }) => {
        // Of a deletion only `reset` tells, which is about any dataset.
        const isOurs = type === 'event' && (data as { readonly name?: string }).name === name;
        if (isOurs || type === 'reset') void read();
      });
      return () => {
        isOver = true;
        stop();
      };
    },
  };
}
