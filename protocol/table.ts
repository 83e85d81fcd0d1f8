/** The endpoint table: every endpoint of the service, by operation id. A route that is not here does not exist. */
import { analyticsEndpoints } from './artifacts/analytics.ts';
import { archives } from './artifacts/archive.ts';
import { artifacts } from './artifacts/artifacts.ts';
import { previewLinks } from './artifacts/preview-links.ts';
import { publishing } from './artifacts/publish.ts';
import { reviews } from './artifacts/reviews.ts';
import { thumbnails } from './artifacts/thumbnails.ts';
import { trash } from './artifacts/trash.ts';
import { versions } from './artifacts/versions.ts';
import { viewing } from './artifacts/viewing.ts';
import { alerts } from './automation/alerts.ts';
import { emails } from './automation/email.ts';
import { jobs } from './automation/jobs.ts';
import { metrics } from './automation/metrics.ts';
import { notificationEndpoints } from './automation/notifications.ts';
import { proxying } from './automation/proxy.ts';
import { schedules } from './automation/schedules.ts';
import { templateEndpoints } from './automation/templates.ts';
import { watches } from './automation/watches.ts';
import { webhooks } from './automation/webhooks.ts';
import { billing } from './business/billing.ts';
import { billingPages } from './business/billing-pages.ts';
import { instance } from './business/instance.ts';
import { pageChat } from './business/page-chat.ts';
import { plans } from './business/plans.ts';
import { supportTickets } from './business/support.ts';
import { supportInbound } from './business/support-inbound.ts';
import { terms } from './business/terms.ts';
import { devMail } from './core/dev-mail.ts';
import { operations } from './core/operations.ts';
import { pageSdk } from './core/page-sdk.ts';
import { batches } from './data/batch.ts';
import { blobs } from './data/blobs.ts';
import { changes } from './data/changes.ts';
import { commentSettingsEndpoints } from './data/comment-settings.ts';
import { comments } from './data/comments.ts';
import { datasets } from './data/datasets.ts';
import { documents } from './data/documents.ts';
import { inboxEndpoints } from './data/inbox.ts';
import { jsonKeys } from './data/json-keys.ts';
import { presence } from './data/presence.ts';
import { realtime } from './data/realtime.ts';
import { tableQueries } from './data/table-queries.ts';
import { tables } from './data/tables.ts';
import { viewers } from './data/viewer.ts';
import { asking } from './library/ask.ts';
import { assetUploads } from './library/asset-uploads.ts';
import { catalog } from './library/catalog.ts';
import { connections } from './library/connections.ts';
import { fileImports } from './library/file-imports.ts';
import { files } from './library/files.ts';
import { assets } from './library/personal-assets.ts';
import { searching } from './library/search.ts';
import { skillEndpoints } from './library/skills.ts';
import { workspaceAssets } from './library/workspace-assets.ts';
import { accounts } from './people/accounts.ts';
import { deviceLogin } from './people/device-login.ts';
import { linkedAccounts } from './people/linked-accounts.ts';
import { oidc } from './people/oidc.ts';
import { pages } from './people/pages.ts';
import { passkeys } from './people/passkeys.ts';
import { sessions } from './people/sessions.ts';
import { signIn } from './people/sign-in.ts';
import { tokens } from './people/tokens.ts';
import { webApp } from './people/web-app.ts';
import { accessRequests } from './sharing/access-requests.ts';
import { collaborators } from './sharing/collaborators.ts';
import { explaining } from './sharing/explain.ts';
import { grants } from './sharing/grants.ts';
import { notes } from './sharing/notes.ts';
import { sharees } from './sharing/sharees.ts';
import { accessPolicies } from './workspaces/access-policy.ts';
import { agentTokens } from './workspaces/agent-tokens.ts';
import { auditLog } from './workspaces/audit.ts';
import { contexts } from './workspaces/context.ts';
import { features } from './workspaces/features.ts';
import { folders } from './workspaces/folders.ts';
import { invites } from './workspaces/invites.ts';
import { members } from './workspaces/members.ts';
import { personalFolders } from './workspaces/personal-folders.ts';
import { provisioning } from './workspaces/provisioning.ts';
import { publishPolicies } from './workspaces/publish-policy.ts';
import { workspaces } from './workspaces/workspaces.ts';

export const endpoints = {
  ...operations,
  ...devMail,
  ...accounts,
  ...tokens,
  ...deviceLogin,
  ...pages,
  ...webApp,
  ...signIn,
  ...oidc,
  ...linkedAccounts,
  ...passkeys,
  ...sessions,
  ...publishing,
  ...artifacts,
  ...thumbnails,
  ...trash,
  ...archives,
  ...versions,
  ...reviews,
  ...previewLinks,
  ...analyticsEndpoints,
  ...collaborators,
  ...accessRequests,
  ...viewing,
  ...folders,
  ...personalFolders,
  ...contexts,
  ...jsonKeys,
  ...tables,
  ...tableQueries,
  ...blobs,
  ...datasets,
  ...batches,
  ...changes,
  ...comments,
  ...inboxEndpoints,
  ...commentSettingsEndpoints,
  ...pageSdk,
  ...realtime,
  ...presence,
  ...viewers,
  ...documents,
  ...workspaces,
  ...plans,
  ...terms,
  ...members,
  ...invites,
  ...accessPolicies,
  ...features,
  ...agentTokens,
  ...publishPolicies,
  ...auditLog,
  ...sharees,
  ...grants,
  ...notes,
  ...explaining,
  ...connections,
  ...assets,
  ...assetUploads,
  ...workspaceAssets,
  ...files,
  ...fileImports,
  ...skillEndpoints,
  ...asking,
  ...searching,
  ...catalog,
  ...provisioning,
  ...emails,
  ...templateEndpoints,
  ...proxying,
  ...schedules,
  ...notificationEndpoints,
  ...webhooks,
  ...jobs,
  ...metrics,
  ...alerts,
  ...watches,
  ...instance,
  ...supportTickets,
  ...supportInbound,
  ...pageChat,
  ...billing,
  ...billingPages,
} as const;

export type Endpoints = typeof endpoints;
export type EndpointId = keyof Endpoints;
/** Those that are upgraded to a WebSocket. */
export type SocketEndpointId = keyof typeof realtime;
