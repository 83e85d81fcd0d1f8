/** Every module of the service, in dependency order. A new resource is added here and nowhere else. */
import type { EndpointId, SocketEndpointId } from '../../protocol/table.ts';
import { contentModule } from '../content/module.ts';
import type { PageSdk } from '../content/page-sdk.ts';
import type { AtomicHandlers } from '../edge/batch.ts';
import type { Handlers } from '../edge/call.ts';
import type { SocketProtocol } from '../edge/socket.ts';
import { analyticsModule } from '../features/artifacts/analytics/module.ts';
import { archiveModule } from '../features/artifacts/archive/module.ts';
import { artifactsModule } from '../features/artifacts/artifacts/module.ts';
import { previewLinksModule } from '../features/artifacts/preview-links/module.ts';
import { publishModule } from '../features/artifacts/publish/module.ts';
import { reviewsModule } from '../features/artifacts/reviews/module.ts';
import { chromiumFor, thumbnailsModule } from '../features/artifacts/thumbnails/module.ts';
import { ThumbnailWishes } from '../features/artifacts/thumbnails/wishes.ts';
import { trashModule } from '../features/artifacts/trash/module.ts';
import { versionsModule } from '../features/artifacts/versions/module.ts';
import { viewingModule } from '../features/artifacts/viewing/module.ts';
import { alertsModule } from '../features/automation/alerts/module.ts';
import { MailAttachments } from '../features/automation/email/attachments.ts';
import { emailModule } from '../features/automation/email/module.ts';
import { jobsModule } from '../features/automation/jobs/module.ts';
import { metricsModule } from '../features/automation/metrics/module.ts';
import { notificationsModule } from '../features/automation/notifications/module.ts';
import { proxyModule } from '../features/automation/proxy/module.ts';
import { templatesModule } from '../features/automation/templates/module.ts';
import { watchesModule } from '../features/automation/watches/module.ts';
import { webhooksModule } from '../features/automation/webhooks/module.ts';
import { billingModule } from '../features/business/billing/module.ts';
import type { HealthDeps } from '../features/business/instance/health.ts';
import { instanceModule } from '../features/business/instance/module.ts';
import { InstanceSettings } from '../features/business/instance/settings.ts';
import { currentBanner } from '../features/business/instance/settings-handlers.ts';
import { personDataModule } from '../features/business/person-data/module.ts';
import { supportModule } from '../features/business/support/module.ts';
import { termsModule } from '../features/business/terms/module.ts';
import type { HealthOf } from '../features/business/terms/status.ts';
import { tiersModule } from '../features/business/tiers/module.ts';
import { blobsModule } from '../features/data/blobs/module.ts';
import { changesModule } from '../features/data/changes/module.ts';
import { commentsModule } from '../features/data/comments/module.ts';
import { datasetsModule } from '../features/data/datasets/module.ts';
import { documentsModule } from '../features/data/documents/module.ts';
import { inboxModule } from '../features/data/inbox/module.ts';
import { jsonKeysModule } from '../features/data/json-keys/module.ts';
import { presenceModule } from '../features/data/presence/module.ts';
import { tablesModule } from '../features/data/tables/module.ts';
import { viewerModule } from '../features/data/viewer/module.ts';
import { askModule } from '../features/library/ask/module.ts';
import { assetsModule } from '../features/library/assets/module.ts';
import { catalogModule } from '../features/library/catalog/module.ts';
import { connectionsModule } from '../features/library/connections/module.ts';
import { importsModule } from '../features/library/imports/module.ts';
import { searchModule } from '../features/library/search/module.ts';
import { skillsModule } from '../features/library/skills/module.ts';
import type { Module, ModuleDeps, Sweep } from '../features/module.ts';
import { AccessWatch } from '../features/people/access-watch/access-watch.ts';
import { accountsModule } from '../features/people/accounts/module.ts';
import { deviceLoginModule } from '../features/people/device-login/module.ts';
import { Identities } from '../features/people/identities/identities.ts';
import { linkedAccountsModule } from '../features/people/linked-accounts/module.ts';
import { oidcModule } from '../features/people/oidc/module.ts';
import { OidcProviders } from '../features/people/oidc/providers.ts';
import { pagesModule } from '../features/people/pages/module.ts';
import { passkeysModule } from '../features/people/passkeys/module.ts';
import { sessionsModule } from '../features/people/sessions/module.ts';
import { signInModule } from '../features/people/sign-in/module.ts';
import { tokensModule } from '../features/people/tokens/module.ts';
import { usageModule } from '../features/people/usage/module.ts';
import type { AppFiles } from '../features/people/web-app/files.ts';
import { webAppModule } from '../features/people/web-app/module.ts';
import { accessRequestsModule } from '../features/sharing/access-requests/module.ts';
import { collaboratorsModule } from '../features/sharing/collaborators/module.ts';
import { explainModule } from '../features/sharing/explain/module.ts';
import { grantsModule } from '../features/sharing/grants/module.ts';
import { notesModule } from '../features/sharing/notes/module.ts';
import { receiptsModule } from '../features/sharing/receipts/module.ts';
import { shareesModule } from '../features/sharing/sharees/module.ts';
import { accessPolicyModule } from '../features/workspaces/access-policy/module.ts';
import { agentTokensModule } from '../features/workspaces/agent-tokens/module.ts';
import { auditModule } from '../features/workspaces/audit/module.ts';
import { contextModule } from '../features/workspaces/context/module.ts';
import { featuresModule } from '../features/workspaces/features/module.ts';
import { foldersModule } from '../features/workspaces/folders/module.ts';
import { invitesModule } from '../features/workspaces/invites/module.ts';
import { previewInvite } from '../features/workspaces/invites/preview.ts';
import { membersModule } from '../features/workspaces/members/module.ts';
import { provisioningModule } from '../features/workspaces/provisioning/module.ts';
import { publishPolicyModule } from '../features/workspaces/publish-policy/module.ts';
import { workspacesModule } from '../features/workspaces/workspaces/module.ts';
import { mailModule } from '../mail/module.ts';
import { systemClock } from '../platform/clock.ts';
import { realtimeModule } from '../realtime/module.ts';
import { housekeeping } from './housekeeping.ts';

export type AllDeps = ModuleDeps &
  Pick<HealthDeps, 'dependencies' | 'slowTurns'> & {
    readonly pageSdk: PageSdk;
    readonly appFiles: AppFiles;
    readonly isEmbedded: boolean;
    readonly health: HealthOf;
  };

export function allModules(deps: AllDeps) {
  const identities = new Identities(deps);
  const settingsOfInstance = new InstanceSettings(deps);
  const chromium = chromiumFor(deps);
  const mail = mailModule({ ...deps, files: new MailAttachments(deps) });
  const tokens = tokensModule(deps);
  const sessions = sessionsModule({ ...deps, ...tokens });
  const providers = new OidcProviders(deps.settings.oidc, deps);
  const signIn = signInModule({ ...deps, sessions: sessions.sessions, providers, mail: mail.mail });
  const oidc = oidcModule({ ...deps, sessions: sessions.sessions, people: signIn.people, providers });
  const linkedAccounts = linkedAccountsModule({ ...deps, attempts: signIn.attempts, people: signIn.people, mail: mail.mail });
  const passkeys = passkeysModule({ ...deps, sessions: sessions.sessions, people: signIn.people });
  const device = deviceLoginModule(deps);
  const workspaces = workspacesModule(deps);
  const accounts = accountsModule({ ...deps, workspaces: workspaces.directory, flags: settingsOfInstance });
  const wishes = new ThumbnailWishes();
  const artifacts = artifactsModule({ ...deps, workspaces: workspaces.directory, wishes });
  const viewing = viewingModule({ ...deps, ...tokens, ...artifacts });
  const folders = foldersModule({ ...deps, workspaces: workspaces.directory });
  const invites = invitesModule({ ...deps, ...mail });
  const accessRequests = accessRequestsModule({ ...deps, mail: mail.mail });
  const pages = pagesModule({
    ...deps,
    ...tokens,
    ...device,
    ...viewing,
    preview: (code, emails) => previewInvite({ sql: deps.sql, workspaces: workspaces.directory }, code, emails, deps.clock.nowMs()),
    called: handlersOf([signIn, sessions, tokens, linkedAccounts, passkeys, invites, accessRequests] as const),
  });
  const members = membersModule({ ...deps, workspaces: workspaces.directory, invitations: invites.invitations });
  const access = new AccessWatch({ ...deps, ioClock: systemClock, heads: artifacts.heads, tokens: tokens.tokens });
  const changes = changesModule({ ...deps, access });
  const realtime = realtimeModule({ ...deps, ...tokens, ...artifacts, ...changes, access, identities });
  const tables = tablesModule(deps);
  const datasets = datasetsModule(deps);
  const documents = documentsModule({ ...deps, rooms: realtime.rooms });
  const receipts = receiptsModule(deps);
  const analytics = analyticsModule(deps);
  const content = contentModule({ ...deps, ...artifacts, ...viewing, ...receipts, ...analytics });
  const notifications = notificationsModule({ ...deps, ...tokens, banner: () => currentBanner(deps, settingsOfInstance) });
  const search = searchModule({ ...deps, workspaces: workspaces.directory });
  const metrics = metricsModule({ ...deps, ...artifacts, reads: tables.reads });
  const connections = connectionsModule(deps);
  const webhooks = webhooksModule(deps);
  const list = [
    accounts,
    tokens,
    sessions,
    signIn,
    device,
    pages,
    webAppModule(deps),
    oidc,
    linkedAccounts,
    passkeys,
    workspaces,
    members,
    invites,
    accessPolicyModule(deps),
    featuresModule({ ...deps, workspaces: workspaces.directory }),
    termsModule(deps),
    tiersModule({ ...deps, workspaces: workspaces.directory }),
    folders,
    agentTokensModule({ ...deps, ...tokens }),
    publishPolicyModule(deps),
    auditModule(deps),
    reviewsModule({ ...deps, heads: artifacts.heads }),
    contextModule(deps),
    artifacts,
    publishModule({ ...deps, workspaces: workspaces.directory }),
    versionsModule(deps),
    previewLinksModule(deps),
    thumbnailsModule({ ...deps, wishes, content: content.content, chromium }),
    collaboratorsModule({ ...deps, mail: mail.mail }),
    accessRequests,
    viewing,
    analytics,
    archiveModule({ ...deps, workspaces: workspaces.directory }),
    trashModule({ ...deps, workspaces: workspaces.directory, purges: [tables.purge, documents.purge] }),
    jsonKeysModule(deps),
    tables,
    blobsModule(deps),
    datasets,
    documents,
    commentsModule({ ...deps, identities, mail: mail.mail }),
    inboxModule({ ...deps, ...artifacts }),
    changes,
    presenceModule(realtime),
    viewerModule({ identities }),
    realtime,
    content,
    mail,
    shareesModule({ ...deps, ...tokens }),
    grantsModule({ ...deps, mail: mail.mail }),
    notesModule(deps),
    receipts,
    explainModule(deps),
    assetsModule({ ...deps, chromium }),
    importsModule({ ...deps, flags: settingsOfInstance, sessions: sessions.sessions, workspaces: workspaces.directory }),
    skillsModule({ ...deps, workspaces: workspaces.directory }),
    search,
    askModule({
      ...deps,
      flags: settingsOfInstance,
      passages: search.passages,
      workspaces: workspaces.directory,
      tables: tables.reads,
      datasets: datasets.lines,
      documents: documents.whole,
    }),
    connections,
    catalogModule({ ...deps, workspaces: workspaces.directory }),
    notifications,
    jobsModule({ ...deps, ...artifacts, ...analytics, tokens: tokens.tokens, mail: mail.mail, connections: connections.connections }),
    metrics,
    alertsModule({ ...deps, ...artifacts, ...metrics, mail: mail.mail }),
    watchesModule({ ...deps, ...artifacts, ...metrics }),
    proxyModule(deps),
    webhooks,
    templatesModule(deps),
    emailModule({ ...deps, mail: mail.mail }),
    provisioningModule({ ...deps, mail: mail.mail, invitations: invites.invitations }),
    personDataModule({ ...deps, purges: [tables.purge, documents.purge] }),
    instanceModule({ ...deps, ...webhooks, mail: mail.mail, settingsOfInstance, sessions: sessions.sessions }),
    supportModule({ ...deps, mail: mail.mail }),
    billingModule({ ...deps, mail: mail.mail }),
    housekeeping(deps),
    usageModule(deps),
  ] as const;
  return {
    list,
    tokens: tokens.tokens,
    heads: artifacts.heads,
    content: content.content,
    access,
    receipts: receipts.receipts,
    subjects: { workspace: workspaces.directory, folder: folders.heads },
    mail: mail.mail,
    streams: () => changes.hub.streams + notifications.streams.total,
  };
}

type List = readonly Module<never>[];
type IdsOf<M> = M extends { readonly handlers?: infer H } ? keyof NonNullable<H> : never;

/** The handlers of all modules. The type names exactly those that are there, so that the edge does not compile where one is missing. */
export function handlersOf<const L extends List>(list: L): Handlers<Extract<IdsOf<L[number]>, EndpointId>> {
  return Object.assign({}, ...list.map(({ handlers }) => handlers));
}

export function atomicHandlersOf(list: List): AtomicHandlers {
  return (turns) => Object.assign({}, ...list.map(({ atomic }) => atomic?.(turns)));
}

export function socketsOf(list: List): Partial<Record<SocketEndpointId, SocketProtocol>> {
  return Object.assign({}, ...list.map(({ sockets }) => sockets));
}

/** In the order in which they run. */
export function sweepsOf(list: List): readonly Sweep[] {
  return list.flatMap(({ sweeps }) => sweeps ?? []);
}
