/** Names of components that are recognised by their JSON. */

export interface Use {
  /** The part of the document, as JSON. */
  readonly json: string;
  /** The name it should have. */
  readonly wanted: string;
}

/** One name for each JSON that is used at least `usesMin` times. The most used one gets the plain name; others that want it get a number. */
export function namesOf(uses: readonly Use[], usesMin: number): ReadonlyMap<string, string> {
  const counted = new Map<string, { readonly wanted: string; count: number }>();
  for (const { json, wanted } of uses) {
    const known = counted.get(json);
    if (known === undefined) counted.set(json, { wanted, count: 1 });
    else known.count += 1;
  }
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const [json, { wanted, count }] of [...counted].sort(([, a], [, b]) => b.count - a.count)) {
    if (count < usesMin) continue;
    let name = wanted;
    for (let number = 2; taken.has(name); number += 1) name = `${wanted}-${number}`;
    taken.add(name);
    names.set(json, name);
  }
  return names;
}
