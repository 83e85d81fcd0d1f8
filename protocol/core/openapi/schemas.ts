/** Zod schemas as JSON Schema in which every exported model has a name. */
import { z } from 'zod';
import * as analytic from '../../artifacts/analytics.ts';
import * as artifact from '../../artifacts/artifacts.ts';
import * as previewLink from '../../artifacts/preview-links.ts';
import * as publish from '../../artifacts/publish.ts';
import * as review from '../../artifacts/reviews.ts';
import * as trash from '../../artifacts/trash.ts';
import * as version from '../../artifacts/versions.ts';
import * as alert from '../../automation/alerts.ts';
import * as mailed from '../../automation/email.ts';
import * as jobConfigs from '../../automation/job-configs.ts';
import * as job from '../../automation/jobs.ts';
import * as metric from '../../automation/metrics.ts';
import * as notified from '../../automation/notifications.ts';
import * as proxied from '../../automation/proxy.ts';
import * as scheduled from '../../automation/schedules.ts';
import * as templated from '../../automation/templates.ts';
import * as watched from '../../automation/watches.ts';
import * as hooked from '../../automation/webhooks.ts';
import * as allowance from '../../business/allowances.ts';
import * as billed from '../../business/billing.ts';
import * as planned from '../../business/billing-plans.ts';
import * as chatOfPage from '../../business/page-chat.ts';
import * as plan from '../../business/plans.ts';
import * as ticketed from '../../business/support.ts';
import * as inboundTicketed from '../../business/support-inbound.ts';
import * as term from '../../business/terms.ts';
import * as batch from '../../data/batch.ts';
import * as blob from '../../data/blobs.ts';
import * as change from '../../data/changes.ts';
import * as commentSetting from '../../data/comment-settings.ts';
import * as comment from '../../data/comments.ts';
import * as dataset from '../../data/datasets.ts';
import * as document from '../../data/documents.ts';
import * as inboxed from '../../data/inbox.ts';
import * as jsonKey from '../../data/json-keys.ts';
import * as presence from '../../data/presence.ts';
import * as channel from '../../data/realtime.ts';
import * as tableQuery from '../../data/table-queries.ts';
import * as table from '../../data/tables.ts';
import * as viewer from '../../data/viewer.ts';
import * as asked from '../../library/ask.ts';
import * as assetUpload from '../../library/asset-uploads.ts';
import * as asset from '../../library/assets.ts';
import * as cataloged from '../../library/catalog.ts';
import * as connection from '../../library/connections.ts';
import * as fileImport from '../../library/file-imports.ts';
import * as search from '../../library/search.ts';
import * as skilled from '../../library/skills.ts';
import * as account from '../../people/accounts.ts';
import * as linkedAccount from '../../people/linked-accounts.ts';
import * as passkey from '../../people/passkeys.ts';
import * as session from '../../people/sessions.ts';
import * as signIn from '../../people/sign-in.ts';
import * as token from '../../people/tokens.ts';
import * as accessRequest from '../../sharing/access-requests.ts';
import * as capability from '../../sharing/capability.ts';
import * as collaborator from '../../sharing/collaborators.ts';
import * as accessExplaining from '../../sharing/explain.ts';
import * as grant from '../../sharing/grants.ts';
import * as note from '../../sharing/notes.ts';
import * as sharee from '../../sharing/sharees.ts';
import * as accessPolicy from '../../workspaces/access-policy.ts';
import * as agentToken from '../../workspaces/agent-tokens.ts';
import * as auditing from '../../workspaces/audit.ts';
import * as context from '../../workspaces/context.ts';
import * as feature from '../../workspaces/features.ts';
import * as folder from '../../workspaces/folders.ts';
import * as invite from '../../workspaces/invites.ts';
import * as member from '../../workspaces/members.ts';
import * as personalFolder from '../../workspaces/personal-folders.ts';
import * as provisioned from '../../workspaces/provisioning.ts';
import * as publishPolicy from '../../workspaces/publish-policy.ts';
import * as workspace from '../../workspaces/workspaces.ts';
import { dataPage, dateTime, errorBody, page } from '../fields.ts';
import { ID_KINDS, idSchema } from '../ids.ts';
import * as operation from '../operations.ts';

export type Json = Readonly<Record<string, unknown>>;

/** A scalar with an `enum` stays as it is: null would have to be one of the values. */
const scalarOrNull = z.looseObject({
  anyOf: z.tuple([
    z.looseObject({ type: z.enum(['string', 'integer', 'number', 'boolean']), enum: z.undefined().optional() }),
    z.strictObject({ type: z.literal('null') }),
  ]),
});
const FILES = [
  allowance,
  plan,
  term,
  analytic,
  accessExplaining,
  grant,
  note,
  sharee,
  account,
  artifact,
  asset,
  assetUpload,
  batch,
  billed,
  planned,
  blob,
  change,
  channel,
  comment,
  commentSetting,
  connection,
  skilled,
  asked,
  search,
  cataloged,
  dataset,
  document,
  fileImport,
  inboxed,
  jsonKey,
  linkedAccount,
  passkey,
  presence,
  previewLink,
  provisioned,
  publish,
  session,
  signIn,
  operation,
  capability,
  table,
  tableQuery,
  token,
  trash,
  version,
  viewer,
  folder,
  personalFolder,
  context,
  workspace,
  member,
  invite,
  accessPolicy,
  feature,
  agentToken,
  publishPolicy,
  auditing,
  review,
  collaborator,
  accessRequest,
  mailed,
  proxied,
  scheduled,
  templated,
  notified,
  hooked,
  jobConfigs,
  job,
  metric,
  alert,
  watched,
  ticketed,
  inboundTicketed,
  chatOfPage,
];

/** Exported objects, unions and enums are models with the name of their export, and so is every kind of id. Plain strings and numbers stay inline. */
function modelNames(): ReadonlyMap<unknown, string> {
  const names = new Map<unknown, string>([
    [errorBody, 'Error'],
    [page, 'Page'],
    [dataPage, 'DataPage'],
  ]);
  for (const kind of ID_KINDS) names.set(idSchema(kind), `${capitalised(kind)}Id`);
  for (const [name, value] of FILES.flatMap((file) => Object.entries<unknown>(file))) {
    if (value instanceof z.ZodObject || value instanceof z.ZodUnion || value instanceof z.ZodEnum) names.set(value, capitalised(name));
  }
  if (new Set(names.values()).size < names.size) throw new Error('Two exported schemas have the same name.');
  return names;
}

function capitalised(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

const PAGES = [page, dataPage].map((model) => ({ model, members: new Set(Object.keys(model.shape)) }));

/** Converts schemas and collects the models that they refer to. */
export class Schemas {
  readonly #names = modelNames();
  readonly #models = new Map<string, Json>();

  /** The JSON Schema on the wire, before any transform. A model becomes a `$ref`. */
  of(schema: z.ZodType): Json {
    const { definitions, json } = this.#convert(schema);
    for (const [name, model] of Object.entries(definitions)) this.#models.set(name, this.#withPageShared(model));
    return this.#withPageShared(json);
  }

  /** The same without a name of its own, for parameters, which only need the members. */
  inline(schema: z.ZodType): Json {
    const { definitions, json } = this.#convert(schema);
    const own = this.#names.get(schema);
    for (const [name, model] of Object.entries(definitions)) if (name !== own) this.#models.set(name, model);
    return own === undefined ? json : (definitions[own] ?? json);
  }

  /** Every used model, in alphabetical order. */
  models(): Json {
    return Object.fromEntries([...this.#models].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** A list is its own members and those that all lists have, which are a model. */
  #withPageShared(json: Json): Json {
    const { data } = (json.properties ?? {}) as Readonly<Record<string, Json>>;
    if (data?.properties !== undefined) return { ...json, properties: { ...(json.properties as Json), data: this.#withPageShared(data) } };
    for (const { model, members } of PAGES) {
      const { properties = {}, required = [], ...rest } = json as { properties?: Json; required?: readonly string[] };
      const own = Object.entries(properties).filter(([name]) => !members.has(name));
      if (own.length === 0 || Object.keys(properties).length - own.length < members.size) continue;
      this.of(model);
      const list = { ...rest, properties: Object.fromEntries(own), required: required.filter((name) => !members.has(name)) };
      return { allOf: [{ $ref: `#/components/schemas/${this.#names.get(model)}` }, list] };
    }
    return json;
  }

  #convert(schema: z.ZodType): { readonly json: Json; readonly definitions: Readonly<Record<string, Json>> } {
    const converted = z.toJSONSchema(schema, {
      io: 'input',
      unrepresentable: 'any',
      override: ({ zodSchema, jsonSchema }) => simplify(zodSchema, jsonSchema),
      metadata: this.#registry as typeof z.globalRegistry,
    });
    const text = JSON.stringify(converted).replaceAll('"#/$defs/', '"#/components/schemas/');
    const {
      $schema: _dialect,
      $defs = {},
      ...json
    } = JSON.parse(text, withNullFolded) as Json & { readonly $defs?: Readonly<Record<string, Json>> };
    const definitions = Object.entries($defs).map(([name, { id: _id, ...model }]) => [name, model] as const);
    return { json, definitions: Object.fromEntries(definitions) };
  }

  /** zod's own registry with our model names as ids, because zod makes a definition of every schema with an id. */
  get #registry(): unknown {
    return {
      has: (schema: z.ZodType) => this.#names.has(schema) || z.globalRegistry.has(schema),
      get: (schema: z.ZodType) => {
        const id = this.#names.get(schema);
        return id === undefined ? z.globalRegistry.get(schema) : { ...z.globalRegistry.get(schema), id };
      },
    };
  }
}

/** Removes redundant keywords: bounds of safe integers, patterns that a format implies, property names that are any string. */
function simplify(zodSchema: unknown, json: z.core.JSONSchema.BaseSchema): void {
  if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum;
  if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum;
  if (json.format !== undefined) delete json.pattern;
  if (json.const !== undefined) delete json.type;
  // The description of the document says once that times are RFC 3339 in UTC.
  if (zodSchema === dateTime) delete json.description;
  if (typeof json.propertyNames === 'object' && Object.keys(json.propertyNames).length === 1) delete json.propertyNames;
  // In a URL it is the string "true" or "false", which OpenAPI describes as a boolean.
  if (zodSchema instanceof z.ZodPipe && zodSchema.out instanceof z.ZodBoolean) json.type = 'boolean';
}

/** A scalar or null is one schema with two types; only what has a name or other rules needs alternatives. */
function withNullFolded(_key: string, json: unknown): unknown {
  const parsed = scalarOrNull.safeParse(json);
  if (!parsed.success) return json;
  const { anyOf, ...rest } = parsed.data;
  return { ...anyOf[0], ...rest, type: [anyOf[0].type, 'null'] };
}
