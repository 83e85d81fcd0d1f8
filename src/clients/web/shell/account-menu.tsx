import { useEffect } from 'preact/hooks';
import { api } from '../api/client.ts';
import { useAccount } from '../state/loads.ts';
import { chooseTheme, type Locale, type Theme, theme } from '../state/prefs.ts';
import { isAdmin, me, shownName } from '../state/session.ts';
import { tellProblem } from '../state/toasts.ts';
import type { IconName } from '../ui/icon.tsx';
import { Menu, type MenuItem } from '../ui/menu.tsx';
import { Avatar } from '../ui/small.tsx';
import { bytesText } from '../words/format.ts';
import { chooseLocale, LOCALES, words } from '../words/words.ts';

const THEME_ICONS: readonly (readonly [Theme, IconName])[] = [
  ['system', 'screen'],
  ['light', 'sun'],
  ['dark', 'moon'],
];

/** The language of the app is that of the mails too. */
async function chooseLanguage(locale: Locale): Promise<void> {
  await chooseLocale(locale);
  const user = me.peek()?.user;
  if (!user) return;
  const metadata = { ...user.metadata, locale };
  try {
    const { body } = await api.accounts.updateProfile({ body: { metadata } });
    const now = me.peek();
    if (now !== undefined) me.value = { ...now, user: body };
  } catch (error) {
    tellProblem(error);
  }
}

/** Signing out is a form of a page of ours, so that it works in the same way everywhere. */
function signOut(): void {
  const form = document.createElement('form');
  form.method = 'post';
  form.action = '/sign-out';
  document.body.append(form);
  form.submit();
}

export function AccountMenu() {
  const account = useAccount();
  const user = me.value;
  const { account: said, languageName } = words.value;
  // The language of the account, where this browser has not chosen one.
  useEffect(() => {
    document.documentElement.lang = words.value.locale;
  }, [languageName]);
  if (user === undefined) return null;
  const name = shownName(user);
  const items = (): readonly MenuItem[] => {
    const usage = account.data?.usage;
    return [
      { kind: 'heading', label: name },
      { kind: 'link', label: said.account, icon: 'person', href: '/account' },
      { kind: 'link', label: words.value.support.title, icon: 'comment', href: '/my/support' },
      { kind: 'link', label: said.billing, icon: 'card', href: '/my/billing' },
      { kind: 'link', label: said.reference, icon: 'book', href: '/docs', opensNew: true },
      ...(isAdmin() ? [{ kind: 'link' as const, label: said.instance, icon: 'screen' as const, href: '/instance' }] : []),
      { kind: 'link', label: said.design, icon: 'palette', href: '/design' },
      { kind: 'line' },
      { kind: 'heading', label: said.theme },
      ...THEME_ICONS.map(([id, icon]) => ({
        kind: 'choice' as const,
        label: said[id],
        icon,
        isChosen: theme.value === id,
        run: () => chooseTheme(id),
      })),
      { kind: 'line' },
      { kind: 'heading', label: said.language },
      ...LOCALES.map(({ id, name: language }) => ({
        kind: 'choice' as const,
        label: language,
        icon: 'language' as const,
        isChosen: words.value.locale === id,
        run: () => void chooseLanguage(id),
      })),
      { kind: 'line' },
      ...(usage === undefined ? [] : [{ kind: 'heading' as const, label: said.usage(bytesText(usage.bytes), bytesText(usage.bytes_max)) }]),
      { label: said.signOut, icon: 'out', run: signOut },
    ];
  };
  return (
    <Menu label={said.menu(name)} items={items} class="avatar-button">
      <Avatar name={name} />
    </Menu>
  );
}
