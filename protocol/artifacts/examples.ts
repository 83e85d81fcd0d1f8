/** Examples of publishing, versions and what is kept of artifacts. */
import { EXAMPLE_IDS, ofArtifact } from '../core/example.ts';

const { artifact: artifactId, version: versionId } = EXAMPLE_IDS;
const PAGE = '<!doctype html><title>Hello</title><p>Hello</p>';

const published = {
  artifact: { id: artifactId },
  version: { id: versionId, version_no: 1 },
  deployment: { slug: 'hello', url: 'https://hello.example.com' },
};

export const artifactsExamples = {
  'publish.publish': {
    body: { name: 'Hello', files: [{ path: 'index.html', content: PAGE, mime: 'text/html', encoding: 'utf8' }] },
    reply: published,
  },
  'publish.upload': {
    params: { upload_id: EXAMPLE_IDS.upload, sha256: 'a948904f2f0f479b8f8197694b30184b0d2ed1c1cd2a1ec0fb85d299a192a447' },
    body: 'hello world\n',
  },
  'artifacts.list': { query: { limit: '5', count: 'true', favorites: 'false', sort: 'name' } },
  'artifacts.listDeleted': { query: { count: 'true' } },
  'artifacts.get': ofArtifact,
  'artifacts.thumbnail': ofArtifact,
  'artifacts.update': { ...ofArtifact, body: { name: 'Renamed', social_title: null } },
  'artifacts.delete': ofArtifact,
  'artifacts.restore': ofArtifact,
  'artifacts.export': ofArtifact,
  'artifacts.import': { query: { name: 'Imported' } },
  'artifacts.favorite': ofArtifact,
  'artifacts.unfavorite': ofArtifact,
  'versions.list': ofArtifact,
  'versions.get': { params: { id: artifactId, version: '1' } },
  'versions.update': { params: { id: artifactId, version: versionId }, body: { label: 'first' } },
  'versions.delete': { params: { id: artifactId, version: '1' } },
  'versions.diff': { params: { id: artifactId, a: '1', b: '2' } },
  'versions.files': { ...ofArtifact, query: { version: '1' } },
  'reviews.state': { query: { artifactId } },
  'reviews.approve': { params: { id: artifactId, version: '1' }, body: { make_live: false } },
  'reviews.withdraw': { params: { id: artifactId, version: '1' } },
  'versions.rollback': { ...ofArtifact, body: { version_no: 1 } },
  'versions.pin': { ...ofArtifact, body: { version_id: versionId } },
  'previewLinks.list': { ...ofArtifact, query: { limit: '5', count: 'true' } },
  'previewLinks.create': { ...ofArtifact, body: { version_id: versionId } },
  'artifacts.view': { ...ofArtifact, query: { return: '/report.html' } },
  'analytics.views': { ...ofArtifact, query: { range: '7' } },
  'previewLinks.delete': { params: { id: artifactId, link: EXAMPLE_IDS.previewLink } },
} as const;
