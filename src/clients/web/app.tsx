import lazy, { ErrorBoundary } from 'preact-iso/lazy';
import { LocationProvider, Route, Router } from 'preact-iso/router';
import { InboxScreen } from './screens/inbox.tsx';
import { LibraryScreen } from './screens/library.tsx';
import { NotFound } from './screens/not-found.tsx';
import { NotificationsScreen } from './screens/notifications.tsx';
import { SharedScreen } from './screens/shared.tsx';
import { TrashScreen } from './screens/trash.tsx';
import { Shell } from './shell/shell.tsx';
import { SiteBanner } from './ui/site-banner.tsx';
import { Toasts } from './ui/toasts.tsx';

// Small screens come with the app: each part that is loaded later cuts what it shares with others into pieces of their own.
const Artifact = lazy(() => import('./screens/artifact/artifact.tsx').then(({ ArtifactScreen }) => ArtifactScreen));
const later = () => import('./screens/later.tsx').then(({ LATER }) => LATER);
const Ask = lazy(() => later().then((screens) => screens.Ask));
const Assets = lazy(() => later().then((screens) => screens.Assets));
const Billing = lazy(() => later().then((screens) => screens.Billing));
const Instance = lazy(() => later().then((screens) => screens.Instance));
const Support = lazy(() => later().then((screens) => screens.Support));
const WorkspacePart = lazy(() => later().then((screens) => screens.Workspace));
const Design = lazy(() => import('./screens/design.tsx').then(({ DesignScreen }) => DesignScreen));

const Mine = () => <LibraryScreen place={{ kind: 'mine' }} />;
const Favorites = () => <LibraryScreen place={{ kind: 'favorites' }} />;
const PersonalFolder = ({ folderId = '' }: { readonly folderId?: string }) => <LibraryScreen place={{ kind: 'folder', folderId }} />;
const Workspace = ({ slug = '' }: { readonly slug?: string }) => <LibraryScreen place={{ kind: 'workspace', slug }} />;
const WorkspaceFolder = ({ slug = '', folderId = '' }: { readonly slug?: string; readonly folderId?: string }) => (
  <LibraryScreen place={{ kind: 'workspace', slug, folderId }} />
);

const isDesign = location.pathname === '/design';
/** Addresses that are screens; any other link leaves the app. */
const SCREENS = isDesign ? /^$/ : /^\/(?:$|\?|my\/|p\/|w\/|ask(?:$|\?)|instance(?:$|[/?]))/;

export function App() {
  return <LocationProvider scope={SCREENS}>{[<Screens key="screens" />, <Toasts key="toasts" />]}</LocationProvider>;
}

/** A part of the app that is gone was replaced by an update. */
function onError(error: unknown): void {
  console.error(error);
  if (error instanceof TypeError && /import/i.test(error.message)) location.reload();
}

function Screens() {
  if (isDesign) {
    return (
      <ErrorBoundary onError={onError}>
        <SiteBanner />
        <Router>
          <Route path="/design" component={Design} />
          <Route default component={NotFound} />
        </Router>
      </ErrorBoundary>
    );
  }
  return (
    <Shell>
      <ErrorBoundary onError={onError}>
        <Router>
          <Route path="/" component={Mine} />
          <Route path="/ask" component={Ask} />
          <Route path="/my/favorites" component={Favorites} />
          <Route path="/my/inbox" component={InboxScreen} />
          <Route path="/my/notifications" component={NotificationsScreen} />
          <Route path="/my/files" component={Assets} />
          <Route path="/my/billing" component={Billing} />
          <Route path="/my/trash" component={TrashScreen} />
          <Route path="/my/shared" component={SharedScreen} />
          <Route path="/my/support" component={Support} />
          <Route path="/my/support/:ticketId" component={Support} />
          <Route path="/my/folders/:folderId" component={PersonalFolder} />
          <Route path="/p/:id" component={Artifact} />
          <Route path="/p/:id/:tab" component={Artifact} />
          <Route path="/p/:id/:tab/:item" component={Artifact} />
          <Route path="/w/:slug" component={Workspace} />
          <Route path="/w/:slug/folders/:folderId" component={WorkspaceFolder} />
          <Route path="/w/:slug/external/:shareeId" component={WorkspacePart} />
          <Route path="/w/:slug/catalog/:entryId" component={WorkspacePart} />
          <Route path="/w/:slug/skills/:skillId" component={WorkspacePart} />
          <Route path="/w/:slug/imports/:sourceId" component={WorkspacePart} />
          <Route path="/w/:slug/:part" component={WorkspacePart} />
          <Route path="/instance" component={Instance} />
          <Route path="/instance/:part" component={Instance} />
          <Route default component={NotFound} />
        </Router>
      </ErrorBoundary>
    </Shell>
  );
}
