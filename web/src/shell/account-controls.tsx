// Parts of the account menu that are also where there is no menu: while nothing can be done in an account, and before signing in.
import { ActionIcon, NativeSelect, useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { switchAccount } from '../api/account.ts'
import { useWrite } from '../api/client.ts'
import { dropDrafts } from '../api/drafts.ts'
import { apiRequest } from '../api/request.ts'
import { forgetSession, type Session } from '../api/session.ts'
import { Icon } from '../ui/Icon.tsx'
import { commonMessages, memberMessages, shellMessages as w } from '../words/words.ts'

export const AccountSwitcher = ({ session: { account, accounts } }: { session: Session }) => (
  <NativeSelect
    size="xs"
    label={memberMessages.switchLabel}
    value={account?.id ?? ''}
    onChange={(event) => switchAccount(event.currentTarget.value)}
    data={accounts.map(({ id, name, role, isProject }) => ({
      value: id,
      label: `${isProject ? memberMessages.project(name) : name} · ${memberMessages.roles[role]}`,
    }))}
  />
)

export function SignOut({ className }: { className?: string }) {
  const signOut = useWrite(() => apiRequest('POST', '/sign-out'), {
    onDone: () => {
      forgetSession()
      dropDrafts()
      location.assign('/sign-in') // a full page load clears the memory of the old session
    },
  })
  return (
    <button type="button" className={className} aria-busy={signOut.isPending} onClick={() => signOut.isPending || signOut.mutate()}>
      <Icon name="leave" />
      {commonMessages.signOut}
    </button>
  )
}

export function ThemeToggle() {
  const { setColorScheme } = useMantineColorScheme()
  const scheme = useComputedColorScheme('light')
  const label = scheme === 'dark' ? w.light : w.dark
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={label}
      title={label}
      onClick={() => setColorScheme(scheme === 'dark' ? 'light' : 'dark')}
    >
      <Icon name={scheme === 'dark' ? 'sun' : 'moon'} />
    </ActionIcon>
  )
}
