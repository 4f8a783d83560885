// Who is signed in and where they work: switching accounts, the own profile and security, the theme, and signing out.
import { useMantineColorScheme, type MantineColorScheme } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Session } from '../api/session.ts'
import { Flyout } from '../ui/Flyout.tsx'
import { Icon, type IconName } from '../ui/Icon.tsx'
import { shellMessages as w } from '../words/words.ts'
import css from './account-menu.module.css'
import { LanguageSwitch } from './LanguageSwitch.tsx'
import { hasProviderLinks, ProviderLinks } from './ProviderLinks.tsx'
import { AccountSwitcher, SignOut } from './account-controls.tsx'

const LINKS: { tab: string; label: string; icon: IconName }[] = [
  { tab: 'profile', label: w.account.profile, icon: 'user' },
  { tab: 'security', label: w.account.security, icon: 'lock' },
  { tab: 'keys', label: w.account.keys, icon: 'code' },
]

export function AccountMenu({ session }: { session: Session }) {
  const { email, name: userName } = session.user
  const account = session.account?.name || userName || email
  const links = LINKS.filter(({ tab }) => tab !== 'keys' || session.account?.scopes.includes('tokens:read'))
  return (
    <Flyout
      label={w.account.open}
      button={
        <>
          <span className={css['face']} aria-hidden="true">
            {initialsOf(userName || email)}
          </span>
          <span className={css['name']}>{account}</span>
        </>
      }
    >
      {(close) => (
        <>
          <div className={css['who']}>
            {userName && userName !== email && <div className={css['user']}>{userName}</div>}
            <div className={css['email']} title={email}>
              {email}
            </div>
          </div>
          {session.accounts.length > 1 && (
            <div className={css['section']}>
              <AccountSwitcher session={session} />
            </div>
          )}
          <ul className={css['links']}>
            {links.map(({ tab, label, icon }) => (
              <li key={tab}>
                <Link to="/settings" search={{ tab }} className={css['link']} activeProps={{}} onClick={close}>
                  <Icon name={icon} />
                  {label}
                </Link>
              </li>
            ))}
          </ul>
          <div className={css['section']}>
            <ThemeChoice />
            <div className={css['language']}>
              <LanguageSwitch isSignedIn />
            </div>
          </div>
          {hasProviderLinks && (
            <div className={css['links']}>
              <ProviderLinks className={css['link']} />
            </div>
          )}
          <div className={css['links']}>
            <SignOut className={css['link']!} />
          </div>
        </>
      )}
    </Flyout>
  )
}

const initialsOf = (name: string): string =>
  name
    .replace(/@.*$/, '')
    .split(/[\s._-]+/)
    .filter(Boolean)
    .slice(0, 2)
    .map((word) => String.fromCodePoint(word.codePointAt(0)!).toLocaleUpperCase())
    .join('')

const THEMES: { value: MantineColorScheme; icon: IconName }[] = [
  { value: 'light', icon: 'sun' },
  { value: 'dark', icon: 'moon' },
  { value: 'auto', icon: 'screen' },
]

function ThemeChoice() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <fieldset className={css['themes']}>
      <legend className={css['legend']}>{w.account.theme}</legend>
      {THEMES.map(({ value, icon }) => (
        <label key={value} className={css['theme']} data-chosen={colorScheme === value || undefined}>
          <input type="radio" name="theme" checked={colorScheme === value} onChange={() => setColorScheme(value)} />
          <Icon name={icon} size={16} />
          {w.account.themes[value]}
        </label>
      ))}
    </fieldset>
  )
}
