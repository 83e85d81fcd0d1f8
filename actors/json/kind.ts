import type { RestoredKind } from '../runtime/live-kind.ts';
import type { JsonChange, JsonImage } from './changes.ts';
import { type JsonDeps, JsonPart } from './json-part.ts';

export const jsonKind: RestoredKind<JsonChange, JsonImage, JsonDeps, JsonPart> = {
  changes: { 'json.put': 'put', 'json.delete': 'deletion' },
  valueBytes: (change) => (change.kind === 'json.put' ? change.value.length : 0),
  restore(deps, { keys }) {
    const part = new JsonPart(deps);
    part.restore(keys);
    return part;
  },
};
