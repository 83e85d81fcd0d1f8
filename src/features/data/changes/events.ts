/** The events that followers receive: one JSON text for each changed thing, the same whether it comes from the actor or from the store. */
import { isReserved } from '../../../../actors/json/json-part.ts';
import { type Change, changeTypeOf } from '../../../../actors/kinds.ts';
import { CHANGE_TYPE_OF, type ChangeType } from '../../../../protocol/data/changes.ts';
import { dateTime } from '../../../platform/date-time.ts';
import { type ChangedThing, DATA_BYTES_MAX, type Feed } from './feed.ts';
import { FEEDS } from './kinds.ts';

export interface ChangeEvent {
  readonly seq: number;
  readonly type: ChangeType;
  /** Only sent to the owner and editors. */
  readonly reserved: boolean;
  /** The event as JSON, on one line. */
  readonly json: string;
}

export function eventOf(thing: ChangedThing): ChangeEvent {
  const { seq, kind, name } = thing;
  const type = CHANGE_TYPE_OF[kind];
  const feed = FEEDS[type];
  const json = `{"seq":${seq},"kind":"${kind}",${nameText(feed, thing)}${dataText(feed, thing)}${createdText(thing)}"updatedAt":"${dateTime(thing.atMs)}"}`;
  // A stored JSON value may contain line breaks between its tokens, and a line break would end the event.
  return { seq, type, reserved: feed.hasReserved === true && isReserved(name), json: json.replace(/[\r\n]+/g, ' ') };
}

/** The events of one commit for these types. */
export function eventsOf(changes: readonly Change[], types: ReadonlySet<ChangeType>): ChangeEvent[] {
  const lastSeqs = lastSeqsOf(changes);
  const events: ChangeEvent[] = [];
  for (const change of changes) {
    const type = changeTypeOf(change);
    const feed = FEEDS[type];
    if (!types.has(type) || feed.isSetting?.(change)) continue;
    const last = feed.lastOf?.(change);
    if (last === undefined || lastSeqs.get(`${type} ${last}`) === change.seq) events.push(eventOf(feed.thingOf(change)));
  }
  return events;
}

/** The seq of the last change of each thing for which a commit reports only the last change. */
function lastSeqsOf(changes: readonly Change[]): ReadonlyMap<string, number> {
  const lastSeqs = new Map<string, number>();
  for (const change of changes) {
    const type = changeTypeOf(change);
    const name = FEEDS[type].lastOf?.(change);
    if (name !== undefined) lastSeqs.set(`${type} ${name}`, change.seq);
  }
  return lastSeqs;
}

/** Undefined for changes of settings, which are not sent to followers. */
export function typeOfChange(change: Change): ChangeType | undefined {
  const type = changeTypeOf(change);
  return FEEDS[type].isSetting?.(change) ? undefined : type;
}

/** The type whose settings the change affects; undefined for any other change. */
export function typeOfSetting(change: Change): ChangeType | undefined {
  const type = changeTypeOf(change);
  return FEEDS[type].isSetting?.(change) ? type : undefined;
}

function nameText({ named }: Feed, { name, rowId }: ChangedThing): string {
  return `"${named}":${JSON.stringify(name)},${rowId === null ? '' : `"id":${JSON.stringify(rowId)},`}`;
}

function dataText({ withoutData }: Feed, { kind, data }: ChangedThing): string {
  if (withoutData.includes(kind)) return '';
  const fits = data !== null && Buffer.byteLength(data) <= DATA_BYTES_MAX;
  return fits ? `"data":${data},` : '"truncated":true,';
}

function createdText({ createdAtMs }: ChangedThing): string {
  return createdAtMs === undefined ? '' : `"createdAt":"${dateTime(createdAtMs)}",`;
}
