/** The artifact that a path under `/v1/data` names. */
import type { ArtifactId } from '../../protocol/core/ids.ts';

const ARTIFACT_OF_PATH = /^\/v1\/data\/(art_[a-z0-9]{24})(?:\/|$)/;

export function artifactIdOf(path: string): ArtifactId | undefined {
  return ARTIFACT_OF_PATH.exec(path)?.[1] as ArtifactId | undefined;
}
