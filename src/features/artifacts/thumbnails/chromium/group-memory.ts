/** What a group of processes holds in memory, from /proc. */
import { readdir, readFile } from 'node:fs/promises';

/** Memory that is the group's own, in bytes; 0 on systems without /proc, and where the group is gone. */
export async function groupMemoryBytes(groupId: number): Promise<number> {
  const names = await orElse(readdir('/proc'), []);
  let bytes = 0;
  for (const name of names) {
    if (!/^\d+$/.test(name) || (await groupOf(name)) !== groupId) continue;
    const status = await orElse(readFile(`/proc/${name}/status`, 'utf8'), '');
    for (const [, kilobytes] of status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm)) bytes += Number(kilobytes) * 1024;
  }
  return bytes;
}

async function groupOf(processId: string): Promise<number> {
  const stat = await orElse(readFile(`/proc/${processId}/stat`, 'utf8'), '');
  // The name of the program is in parentheses and may contain any character.
  const [, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(group);
}

/** Processes end while they are looked at. */
function orElse<T>(read: Promise<T>, otherwise: T): Promise<T> {
  return read.catch(() => otherwise);
}
