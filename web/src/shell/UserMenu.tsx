import { ActionIcon, NativeSelect, Tooltip, useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { switchAccount } from '../api/account.ts'
import { apiRequest } from '../api/request.ts'
import { useWrite } from '../api/client.ts'
import { forgetSession, type Session } from '../api/session.ts'
import { Icon } from '../ui/Icon.tsx'
import { commonMessages, memberMessages, shellMessages as w } from '../words/words.ts'
import { LanguageSwitch } from './LanguageSwitch.tsx'
import css from './shell.module.css'

export function UserMenu({ session }: { session: Session }) {
  const { email } = session.user
  const name = session.account?.name || session.user.name
  const signOut = useWrite(() => apiRequest('POST', '/sign-out'), {
    onDone: () => {
      forgetSession()
      location.assign('/sign-in') // a full page load clears the memory of the old session
    },
  })
  return (
    <div className={css['user']}>
      <div className={css['who']}>
        {session.accounts.length > 1 ? (
          <AccountSwitcher session={session} />
        ) : (
          name && name !== email && <div className={css['account']}>{name}</div>
        )}
        <div className={css['email']}>{email}</div>
        <LanguageSwitch />
      </div>
      <ThemeToggle />
      <Tooltip label={commonMessages.signOut}>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={commonMessages.signOut}
          loading={signOut.isPending}
          onClick={() => signOut.mutate()}
        >
          <Icon name="leave" />
        </ActionIcon>
      </Tooltip>
    </div>
  )
}

const AccountSwitcher = ({ session: { account, accounts } }: { session: Session }) => (
  <NativeSelect
    size="xs"
    mb={4}
    aria-label={memberMessages.switchLabel}
    value={account?.id ?? ''}
    onChange={(event) => switchAccount(event.currentTarget.value)}
    data={accounts.map(({ id, name, role, isProject }) => ({
      value: id,
      label: `${isProject ? memberMessages.project(name) : name} · ${memberMessages.roles[role]}`,
    }))}
  />
)

export function ThemeToggle() {
  const { setColorScheme } = useMantineColorScheme()
  const scheme = useComputedColorScheme('light')
  const label = scheme === 'dark' ? w.light : w.dark
  return (
    <Tooltip label={label}>
      <ActionIcon variant="subtle" color="gray" aria-label={label} onClick={() => setColorScheme(scheme === 'dark' ? 'light' : 'dark')}>
        <Icon name={scheme === 'dark' ? 'sun' : 'moon'} />
      </ActionIcon>
    </Tooltip>
  )
}
