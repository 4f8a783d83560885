// Instead of the shell while nothing can be done in an account: there is none, or it requires two-factor authentication first.
import type { Session } from '../api/session.ts'
import { memberMessages as w } from '../words/words.ts'
import { AuthLayout } from '../screens/sign-in/AuthLayout.tsx'
import { TwoFactor } from '../screens/settings/Security.tsx'
import { Reauthenticate } from './Reauthenticate.tsx'
import { UserMenu } from './UserMenu.tsx'

export const isBlocked = ({ account, user }: Session): boolean => account === null || (account.requireTwoFactor && !user.totpEnabled)

export function Blocked({ session }: { session: Session }) {
  const { account, user } = session
  return (
    <>
      <AuthLayout
        title={account ? w.enrolTitle : w.noAccount}
        about={account ? w.enrolAbout(account.name || user.email) : w.noAccountAbout}
        below={<UserMenu session={session} />}
      >
        {account && <TwoFactor />}
      </AuthLayout>
      <Reauthenticate totpEnabled={user.totpEnabled} />
    </>
  )
}
