import { describe, expect, it } from 'vitest';
import type { EgressReply, EgressRequest } from '../../../../src/egress/egress.ts';
import { EgressFailure, type EgressReason } from '../../../../src/egress/failure.ts';
import { DriveCalls, IMPATIENT, PATIENT } from '../../../../src/features/library/imports/providers/calls.ts';
import { CloudDrive } from '../../../../src/features/library/imports/providers/cloud-drive.ts';
import { OfficeSuite } from '../../../../src/features/library/imports/providers/office-suite.ts';
import { BROWSE_PAGES_MAX, type DriveProvider, type RemotePlace } from '../../../../src/features/library/imports/providers/provider.ts';

const API = 'https://api.example';

/** A clock whose waits are over as soon as they begin. */
class HastyClock {
  #nowMs = 0;
  nowMs = () => this.#nowMs;
  after = (ms: number, run: () => void) => {
    this.#nowMs += ms;
    queueMicrotask(run);
    return { cancel: () => undefined };
  };
}

/** `answer` gets the number of the call, from 1. */
function callsOf(answer: (call: number, request: EgressRequest) => object | EgressReason, options = { patience: IMPATIENT }) {
  const clock = new HastyClock();
  const made: string[] = [];
  const fetch = async (request: EgressRequest): Promise<EgressReply> => {
    made.push(request.url);
    const given = answer(made.length, request);
    if (typeof given === 'string') throw new EgressFailure(given, `It is ${given}.`);
    return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(given)), url: request.url };
  };
  const bearer = { token: async () => 'token', refused: async () => undefined };
  return { calls: new DriveCalls({ egress: { fetch }, clock }, bearer, { share: 'share', ...options }), made, clock };
}

describe('browse ends where pages lead to themselves', () => {
  const folder: RemotePlace = { kind: 'folder', driveId: null, itemId: 'plans' };
  const site: RemotePlace = { kind: 'site', driveId: null, itemId: 'site' };
  const [cloud, office] = [new CloudDrive(API), new OfficeSuite(API)];
  // Later pages would be the last ones, so that a loop without an end fails here, too.
  const empty = (call: number) => (call > 3 * BROWSE_PAGES_MAX ? {} : { nextPageToken: 'same', '@odata.nextLink': `${API}/v1.0/same` });

  it.each<[string, DriveProvider, RemotePlace | null, number]>([
    ['folders of a cloud drive', cloud, folder, BROWSE_PAGES_MAX],
    ['shared drives', cloud, null, BROWSE_PAGES_MAX],
    ['folders of an office suite', office, folder, BROWSE_PAGES_MAX],
    ['drives of a site', office, site, BROWSE_PAGES_MAX],
    ['sites and groups', office, null, 2 * BROWSE_PAGES_MAX],
  ])('of %s', async (_, provider, place, pages) => {
    const { calls, made } = callsOf((call) => ({ files: [], drives: [], value: [], ...empty(call) }));
    await provider.browse(calls, place, undefined);
    expect(made).toHaveLength(pages);
  });

  it('of all calls together after a time', async () => {
    const { calls, made, clock } = callsOf(
      () => {
        clock.after(15_000, () => undefined);
        return { files: [], nextPageToken: 'same' };
      },
      { patience: IMPATIENT, ...{ endsAtMs: 30_000 } },
    );
    await expect(cloud.browse(calls, folder)).rejects.toMatchObject({ kind: 'unavailable', message: expect.stringContaining('too long') });
    expect([made.length, clock.nowMs()]).toEqual([2, 30_000]);
  });
});

describe('where this service itself is busy', () => {
  const answered = { files: [] };
  const list = ({ calls }: ReturnType<typeof callsOf>) =>
    new CloudDrive(API).children(calls, { kind: 'folder', driveId: null, itemId: 'plans' }, null);

  it('a run waits, which is no try of the provider', async () => {
    const asked = callsOf((call) => (call <= 20 ? 'busy' : call === 21 ? 'timeout' : answered), { patience: { ...PATIENT, tries: 2 } });
    expect(await list(asked)).toMatchObject({ files: [] });
    expect([asked.made.length, asked.clock.nowMs()]).toEqual([22, 20 * 2000 + 1000]);
  });

  it('a run does not wait for ever, a person not at all, and the provider is not blamed', async () => {
    for (const [patience, made] of [
      [PATIENT, PATIENT.busyWaits + 1],
      [IMPATIENT, 1],
    ] as const) {
      const asked = callsOf(() => 'busy', { patience });
      await expect(list(asked)).rejects.toMatchObject({ kind: 'unavailable', message: 'It is busy.' });
      expect(asked.made).toHaveLength(made);
    }
  });
});
