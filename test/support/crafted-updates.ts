/** Updates in the format v1 of Yjs that no client of Yjs makes. */
import * as encoding from 'lib0/encoding';

const CONTENT_STRING = 4;
const PARENT_SUB = 0x20;

/** `items` characters by one client, all at the start of the text `name`, or as values of one key of the map `name`. */
export function itemsAtOnePlace(client: number, items: number, name: string, key?: string): Uint8Array {
  const encoder = encoding.createEncoder();
  encoding.writeVarUint(encoder, 1);
  encoding.writeVarUint(encoder, items);
  encoding.writeVarUint(encoder, client);
  encoding.writeVarUint(encoder, 0);
  for (let item = 0; item < items; item += 1) {
    encoding.writeUint8(encoder, CONTENT_STRING | (key === undefined ? 0 : PARENT_SUB));
    // The parent is a type of the document, by its name.
    encoding.writeVarUint(encoder, 1);
    encoding.writeVarString(encoder, name);
    if (key !== undefined) encoding.writeVarString(encoder, key);
    encoding.writeVarString(encoder, 'x');
  }
  // Nothing is deleted.
  encoding.writeVarUint(encoder, 0);
  return encoding.toUint8Array(encoder);
}
