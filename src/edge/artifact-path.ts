/** Artifacts that paths name. */
import type { ArtifactId } from '../../protocol/core/ids.ts';

const ARTIFACT_OF_PATH = /^\/v1\/data\/(art_[a-z0-9]{24})(?:\/|$)/;

/** The one that a path under `/v1/data` names. */
export function artifactIdOf(path: string): ArtifactId | undefined {
  return ARTIFACT_OF_PATH.exec(path)?.[1] as ArtifactId | undefined;
}

const ARTIFACT_ID = /^art_[a-z0-9]{24}$/;

export function isArtifactId(text: string): text is ArtifactId {
  return ARTIFACT_ID.test(text);
}
