/** Generates `src/clients/page/wire.ts`: TypeScript types of the Data API's answers, from the schemas of the endpoint table. */
import { z } from 'zod';
import { emailChallenge, ownerNotified } from '../../protocol/automation/email.ts';
import { pageChatMessage, pageChatPage, pageChatSettings, pageChatWritten } from '../../protocol/business/page-chat.ts';
import { ERRORS, type ErrorCode, wireCodeOf } from '../../protocol/core/errors.ts';
import { blob, blobList, blobUpload } from '../../protocol/data/blobs.ts';
import { changeEvent, changesPage } from '../../protocol/data/changes.ts';
import { commentPeople, commentSettings, guestToken } from '../../protocol/data/comment-settings.ts';
import { comment, commentList, commentThread } from '../../protocol/data/comments.ts';
import { datasetRows, datasetWithVersions } from '../../protocol/data/datasets.ts';
import { jsonEntry, jsonList, jsonWritten } from '../../protocol/data/json-keys.ts';
import { person, presentPerson } from '../../protocol/data/realtime.ts';
import { tablePage } from '../../protocol/data/table-queries.ts';
import { tableRow } from '../../protocol/data/tables.ts';
import { answered } from '../../protocol/library/ask.ts';

interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly description?: string;
}

export function wireTypes(): string {
  const codes = [...new Set((Object.keys(ERRORS) as ErrorCode[]).map(wireCodeOf))].map((code) => `  | '${code}'`);
  const declarations: readonly (readonly [name: string, schema: z.ZodType])[] = [
    ['JsonEntry', jsonEntry],
    ['JsonList', jsonList],
    ['JsonWritten', jsonWritten],
    ['TableRow', tableRow],
    ['TablePage', tablePage],
    ['BlobRecord', blob],
    ['BlobList', blobList],
    ['UploadTicket', blobUpload],
    ['DatasetInfo', datasetWithVersions.partial({ versions: true })],
    ['DatasetRows', datasetRows],
    ['ChangeEvent', changeEvent],
    ['ChangesPage', changesPage],
    ['Person', person],
    ['PresentPerson', presentPerson],
    ['Comment', comment],
    ['CommentList', commentList],
    ['CommentThread', commentThread],
    ['CommentPeople', commentPeople],
    ['CommentSettings', commentSettings],
    ['GuestToken', guestToken],
    ['EmailChallenge', emailChallenge],
    ['OwnerNotified', ownerNotified],
    ['AgentAnswer', answered],
    ['PageChatSettings', pageChatSettings],
    ['PageChatMessage', pageChatMessage],
    ['PageChatPage', pageChatPage],
    ['PageChatWritten', pageChatWritten],
  ];
  const parts = [
    '// Generated from the schemas of the endpoint table by `npx vitest run test/clients/page-types.test.ts -u`.',
    `export type ErrorCode =\n${codes.join('\n')};`,
    ...declarations.map(([name, schema]) => declaration(name, schema)),
  ];
  return `${parts.join('\n\n')}\n`;
}

function declaration(name: string, schema: z.ZodType): string {
  const json = z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' }) as JsonSchema;
  return `export interface ${name} ${objectOf(json, '')}`;
}

function objectOf({ properties = {}, required = [], additionalProperties }: JsonSchema, indent: string): string {
  const inner = `${indent}  `;
  const lines = Object.entries(properties).map(([name, schema]) => {
    const comment = schema.description === undefined ? '' : `${inner}/** ${schema.description.replaceAll('*/', '*\\/')} */\n`;
    return `${comment}${inner}${name}${required.includes(name) ? '' : '?'}: ${typeOf(schema, inner)};`;
  });
  // Objects with additional members, such as rows.
  if (typeof additionalProperties === 'object') lines.push(`${inner}[field: string]: unknown;`);
  return `{\n${lines.join('\n')}\n${indent}}`;
}

function typeOf(schema: JsonSchema, indent: string): string {
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum) return schema.enum.map(literal).join(' | ');
  if (schema.anyOf) return schema.anyOf.map((one) => typeOf(one, indent)).join(' | ');
  const { type } = schema;
  if (Array.isArray(type)) return type.map((one) => typeOf({ ...schema, type: one }, indent)).join(' | ');
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type;
    case 'number':
    case 'integer':
      return 'number';
    case 'array': {
      const item = typeOf(schema.items ?? {}, indent);
      return item.includes(' | ') && !item.startsWith('{') ? `(${item})[]` : `${item}[]`;
    }
    case 'object':
      if (schema.properties !== undefined) return objectOf(schema, indent);
      return `Record<string, ${typeof schema.additionalProperties === 'object' ? typeOf(schema.additionalProperties, indent) : 'unknown'}>`;
    default:
      return 'unknown';
  }
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value);
}
