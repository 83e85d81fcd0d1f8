/** JSON merge patch, RFC 7396. */
import { isJsonObject, type JsonObject, setMember } from './json-path.ts';

/** Returns the replacement of `target`, which it changes in place where possible. `undefined` stands for an absent target. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch;
  const merged: JsonObject = isJsonObject(target) ? target : {};
  for (const name of Object.keys(patch)) {
    const change = patch[name];
    if (change === null) delete merged[name];
    else setMember(merged, name, mergePatch(Object.hasOwn(merged, name) ? merged[name] : undefined, change));
  }
  return merged;
}
