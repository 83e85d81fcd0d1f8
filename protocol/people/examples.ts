/** Examples of accounts, sign-in, device login and the pages of our own. */
import { freeAllowances } from '../business/plan-examples.ts';
import { AT, EXAMPLE_IDS } from '../core/example.ts';

const profile = {
  id: EXAMPLE_IDS.user,
  username: 'ada',
  name: 'Ada',
  email: null,
  metadata: {},
  created_at: '2026-01-05T09:30:00.000Z',
};

const accounts = {
  'accounts.create': { body: {}, reply: { token: `so_${'4f9d21c07be8a635'.repeat(4)}`, user_id: EXAMPLE_IDS.user } },
  'accounts.me': {
    reply: { user: profile, token: { kind: 'personal', scopes: [] }, tier: 'free', is_admin: false, is_staff: false, workspaces: [] },
  },
  'accounts.account': {
    reply: {
      tier: 'free',
      features: { public_artifacts: false },
      usage: {
        bytes: 4_718_592,
        bytes_max: 1_073_741_824,
        artifacts: 3,
        artifacts_max: 100,
        public_artifacts: 0,
        workspaces_owned: 1,
        jobs: 2,
      },
      allowances: freeAllowances,
      over: [],
    },
  },
  'accounts.profile': { reply: profile },
  'accounts.updateProfile': { body: { name: 'Ada', metadata: { team: 'maps' } } },
  'tokens.list': { query: { limit: '10', count: 'true' } },
  'tokens.create': { body: { name: 'laptop' } },
  'tokens.revoke': { params: { id: EXAMPLE_IDS.token } },
} as const;

const byEmail = { email: 'ada@example.com' };
const mailed = { ...byEmail, code: '804116' };
const password = 'seven quiet rivers';
const accepted = { ok: true };
const credential = { id: 'c2VjcmV0', rawId: 'c2VjcmV0', type: 'public-key' };

const signIn = {
  'signIn.providers': { reply: { providers: [{ id: 'corp', name: 'Example Corp' }], password: true, email_code: true } },
  'signIn.signUp': { body: { ...byEmail, password, name: 'Ada' }, reply: accepted },
  'signIn.signUpVerify': { body: mailed, reply: { user: { ...profile, ...byEmail } } },
  'signIn.password': { body: { ...byEmail, password }, reply: { user: { ...profile, ...byEmail } } },
  'signIn.resetStart': { body: byEmail, reply: accepted },
  'signIn.resetFinish': { body: { ...mailed, password }, reply: { user: { ...profile, ...byEmail } } },
  'signIn.changePassword': { body: { current: password, password: 'eight loud waterfalls' }, reply: { success: true } },
  'signIn.emailStart': { body: byEmail, reply: accepted },
  'signIn.emailVerify': { body: mailed, reply: { user: { ...profile, ...byEmail } } },
  'signIn.signOut': { body: {}, reply: { success: true } },
  'oidc.start': { params: { provider: 'corp' }, query: { return_to: '/home', login_hint: 'ada@example.com' } },
  'oidc.callback': {
    params: { provider: 'corp' },
    query: { code: 'SplxlOBeZQQYbYS6WxSbIA', state: 'af0ifjsldkj', iss: 'https://id.example.com' },
  },
  'linkedAccounts.list': {
    reply: { accounts: [{ id: EXAMPLE_IDS.user, provider: 'corp', email: 'ada@example.com', linked_at: AT, primary: true }] },
  },
  'linkedAccounts.unlink': { params: { userId: EXAMPLE_IDS.user } },
  'linkedAccounts.emailStart': { body: byEmail, reply: accepted },
  'linkedAccounts.emailVerify': { body: mailed, reply: { success: true, ...byEmail } },
  'passkeys.list': { reply: { passkeys: [{ id: EXAMPLE_IDS.passkey, name: 'Phone', created_at: AT, last_used_at: null }] } },
  'passkeys.registerStart': { body: {}, reply: { options: { challenge: 'b3B0aW9ucw', rp: { id: 'easel.example.com', name: 'Easel' } } } },
  'passkeys.registerFinish': {
    body: { credential: { ...credential, response: { clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0' } }, name: 'Phone' },
    reply: { passkey: { id: EXAMPLE_IDS.passkey, name: 'Phone', created_at: AT, last_used_at: null } },
  },
  'passkeys.remove': { params: { id: EXAMPLE_IDS.passkey } },
  'passkeys.signInStart': { body: {}, reply: { options: { challenge: 'b3B0aW9ucw', rpId: 'easel.example.com' } } },
  'passkeys.signInFinish': {
    body: { credential: { ...credential, response: { clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0' } } },
    reply: { user: { ...profile, ...byEmail } },
  },
  'sessions.list': {
    query: { limit: '10', count: 'true' },
    reply: {
      sessions: [
        {
          ...{ id: EXAMPLE_IDS.session, device: 'Firefox on Windows', address: '203.0.113.7' },
          ...{ created_at: AT, last_used_at: AT, current: true },
        },
      ],
      ...{ has_more: false, next_cursor: null, total: 1 },
    },
  },
  'sessions.revoke': { params: { id: EXAMPLE_IDS.session } },
  'sessions.revokeOthers': { reply: { success: true } },
} as const;

const deviceCode = 'Zk3vQ7m2xW5tz4Ndh6b2cRpyf0aLk9sJ1uVgE8oTnYI';

const deviceLogin = {
  'deviceLogin.start': {
    body: { expected_email: 'ada@example.com', client_name: 'easel', host_name: 'ada-laptop' },
    reply: {
      device_code: deviceCode,
      user_code: 'BDFH-KMPR',
      verification_uri: 'https://easel.example.com/device',
      verification_uri_complete: 'https://easel.example.com/device?user_code=BDFH-KMPR',
      interval: 5,
      expires_in: 600,
    },
  },
  'deviceLogin.token': { body: { device_code: deviceCode }, reply: { status: 'pending', interval: 5 } },
} as const;

const ownPages = {
  'pages.signIn': { query: { return_to: '/device?user_code=BDFH-KMPR', login_hint: 'ada@example.com' } },
  'pages.signInForm': { body: 'do=code&email=grace%40example.com&return_to=%2Faccount' },
  'pages.signUp': { query: { return_to: '/account' } },
  'pages.signUpForm': { body: `do=start&email=hedy%40example.com&name=Hedy&password=${encodeURIComponent(password)}` },
  'pages.reset': { query: { login_hint: 'ada@example.com' } },
  'pages.resetForm': { body: 'do=start&email=joan%40example.com' },
  'pages.signOut': {},
  'pages.signOutForm': { body: '' },
  'pages.account': { query: { done: 'token-revoked' } },
  'pages.accountForm': { body: 'do=end-others' },
  'pages.device': { query: { user_code: 'BDFH-KMPR' } },
  'pages.deviceForm': { body: 'do=approve&user_code=BDFH-KMPR' },
  'pages.deviceDone': {},
  'pages.invite': { params: { code: 'bcdfg-hjkmn-pqrst-23456' } },
  'pages.inviteForm': { params: { code: 'bcdfg-hjkmn-pqrst-23456' }, body: 'do=accept' },
  'pages.accessRequest': { params: { requestId: EXAMPLE_IDS.accessRequest }, query: { action: 'approve' } },
  'pages.accessRequestForm': { params: { requestId: EXAMPLE_IDS.accessRequest }, body: 'action=approve' },
  'pages.open': { query: { slug: 'hello', return: '/report.html' } },
  'pages.openForm': { body: 'slug=hello&return=%2Freport.html' },
  'pages.askForm': { body: 'slug=hello&message=Please' },
  'pages.file': { params: { file: 'pages.css' } },
  'webApp.home': {},
  'webApp.mine': { params: { path: 'favorites' } },
  'webApp.artifact': { params: { path: EXAMPLE_IDS.artifact } },
  'webApp.workspace': { params: { path: 'acme' } },
  'webApp.ask': { query: { q: 'How much vacation may I take?' } },
  'webApp.instance': {},
  'webApp.instancePart': { params: { path: 'people' } },
  'webApp.design': {},
  'webApp.file': { params: { file: 'icon.svg' } },
} as const;

export const peopleExamples = { ...accounts, ...signIn, ...deviceLogin, ...ownPages } as const;
