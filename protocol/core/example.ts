/** What an example of an endpoint consists of. The examples themselves stand in `examples.ts` of each domain. */
import type { IdKind } from './ids.ts';

export interface Example {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** JSON where the endpoint takes JSON, else text. Binary bodies have no example. */
  readonly body?: unknown;
  /** An example of the first reply. */
  readonly reply?: unknown;
}

/** The ids in the examples. The conformance test replaces them with ids that it has created. */
export const EXAMPLE_IDS = {
  artifact: 'art_k3vq7m2xw5tz4ndh6b2crpyf',
  version: 'ver_h5tz2ndk7vq3mxw4b6crpyf2',
  user: 'usr_m2xw5tz4ndh6b2crpyfk3vq7',
  token: 'tok_z4ndh6b2crpyfk3vq7m2xw5t',
  session: 'ses_yfk3vq7m2xw5tz4ndh6b2crp',
  passkey: 'psk_5tz4ndh6b2crpyfk3vq7m2xw',
  upload: 'upl_b2crpyfk3vq7m2xw5tz4ndh6',
  previewLink: 'lnk_w5tz4ndh6b2crpyfk3vq7m2x',
  row: 'row_ndh6b2crpyfk3vq7m2xw5tz4',
  blob: 'blob_fk3vq7m2xw5tz4ndh6b2crpy',
  comment: 'cmt_crpyfk3vq7m2xw5tz4ndh6b2',
  mail: 'eml_yfk3vq7m2xw5tz4ndh6b2crp',
  mailBatch: 'mlb_w5tz4ndh6b2crpyfk3vq7m2x',
  template: 'tpl_5tz4ndh6b2crpyfk3vq7m2xw',
  folder: 'fld_tz4ndh6b2crpyfk3vq7m2xw5',
  workspace: 'wsp_yfk3vq7m2xw5tz4ndh6b2crp',
  invite: 'inv_k3vq7m2xw5tz4ndh6b2crpyf',
  accessRequest: 'req_h6b2crpyfk3vq7m2xw5tz4nd',
  connection: 'con_tz4ndh6b2crpyfk3vq7m2xw5',
  catalogEntry: 'cat_q7m2xw5tz4ndh6b2crpyfk3v',
  sharee: 'shr_h6b2crpyfk3vq7m2xw5tz4nd',
  external: 'ext_crpyfk3vq7m2xw5tz4ndh6b2',
  grant: 'grt_pyfk3vq7m2xw5tz4ndh6b2cr',
  webhook: 'whk_q7m2xw5tz4ndh6b2crpyfk3v',
  delivery: 'dlv_2xw5tz4ndh6b2crpyfk3vq7m',
  job: 'job_w5tz4ndh6b2crpyfk3vq7m2x',
  importSource: 'ims_h5tz2ndk7vq3mxw4b6crpyf2',
  importRun: 'imr_5tz4ndh6b2crpyfk3vq7m2xw',
  run: 'run_tz4ndh6b2crpyfk3vq7m2xw5',
  alertRule: 'alr_2xw5tz4ndh6b2crpyfk3vq7m',
  skill: 'skl_4ndh6b2crpyfk3vq7m2xw5tz',
  skillChange: 'skc_3vq7m2xw5tz4ndh6b2crpyfk',
  deliverable: 'dlv_h6b2crpyfk3vq7m2xw5tz4nd',
  collection: 'col_xw5tz4ndh6b2crpyfk3vq7m2',
  shareLink: 'lnk_7m2xw5tz4ndh6b2crpyfk3vq',
  metricWatch: 'mwt_vq7m2xw5tz4ndh6b2crpyfk3',
  personExport: 'pex_xw5tz4ndh6b2crpyfk3vq7m2',
  personDeletion: 'pdl_dh6b2crpyfk3vq7m2xw5tz4n',
  ticket: 'tkt_z4ndh6b2crpyfk3vq7m2xw5t',
  ticketMessage: 'tkm_dh6b2crpyfk3vq7m2xw5tz4n',
  ticketAttachment: 'tka_6b2crpyfk3vq7m2xw5tz4ndh',
  subscription: 'sub_w5tz4ndh6b2crpyfk3vq7m2x',
  paymentMethod: 'pmt_h6b2crpyfk3vq7m2xw5tz4nd',
  checkout: 'cko_crpyfk3vq7m2xw5tz4ndh6b2',
  invoice: 'ivc_tz4ndh6b2crpyfk3vq7m2xw5',
} as const satisfies Partial<Record<IdKind, string>>;

/** When things in the examples were made. */
export const AT = '2026-01-05T09:30:00.000Z';

export const inWorkspace = { params: { workspaceId: EXAMPLE_IDS.workspace } };
export const ofArtifact = { params: { id: EXAMPLE_IDS.artifact } };
