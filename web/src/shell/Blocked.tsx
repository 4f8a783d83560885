// Instead of the shell while nothing can be done in an account: there is none, or it requires two-factor authentication first.
import type { Session } from '../api/session.ts'
import { memberMessages as w } from '../words/words.ts'
import { AuthLayout } from '../screens/sign-in/AuthLayout.tsx'
import { TwoFactor } from '../screens/settings/Security.tsx'
import { AccountSwitcher, SignOut } from './account-controls.tsx'
import { Reauthenticate } from './Reauthenticate.tsx'
import css from './account-menu.module.css'

export default function Blocked({ session }: { session: Session }) {
  const { account, user } = session
  return (
    <>
      <AuthLayout
        title={account ? w.enrolTitle : w.noAccount}
        about={account ? w.enrolAbout(account.name || user.email) : w.noAccountAbout}
        below={
          <>
            {session.accounts.length > 1 && <AccountSwitcher session={session} />}
            <div className={css['email']}>{user.email}</div>
            <SignOut className={css['link']!} />
          </>
        }
      >
        {account && <TwoFactor />}
      </AuthLayout>
      <Reauthenticate totpEnabled={user.totpEnabled} />
    </>
  )
}
