import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useEffect } from 'react'
import type { Session } from '../api/session.ts'
import type { FeedState } from '../live/feed.ts'
import { useIdle } from '../ui/idle.ts'
import { Icon } from '../ui/Icon.tsx'
import { loadAll } from '../ui/later/later.tsx'
import { commonMessages, shellMessages as w } from '../words/words.ts'
import { AccountMenu } from './AccountMenu.tsx'
import { Bell } from './Bell.tsx'
import { Brand } from './Brand.tsx'
import { LiveBadge } from './LiveBadge.tsx'
import { AreaSwitch } from './Navigation.tsx'
import { Search } from './Search.tsx'
import css from './shell.module.css'

const Notifications = lazy(() => import('./Notifications.tsx'))

interface Props {
  session: Session
  live: FeedState
  onMenu: () => void
}

export function TopBar({ session, live, onMenu }: Props) {
  const isIdle = useIdle()
  useEffect(() => {
    if (!isIdle) return
    loadAll()
    void import('../words/topics/vm.ts') // and with it all other words
  }, [isIdle])
  const bell = (
    <span className={css['bell']}>
      <Bell />
    </span>
  )
  return (
    <section className={css['bar']} aria-label={w.bar}>
      <button type="button" className={css['menuButton']} aria-haspopup="dialog" aria-label={w.openMenu} onClick={onMenu}>
        <Icon name="menu" size={20} />
      </button>
      <Link to="/" className={css['home']} activeProps={{}}>
        <Brand size={26} />
        <span className="hidden">{commonMessages.home}</span>
      </Link>
      {session.user.isOperator && <AreaSwitch />}
      <Search session={session} />
      <div className={css['tools']}>
        <LiveBadge state={live} />
        {session.account?.scopes.includes('events:read') &&
          (isIdle ? (
            <Suspense fallback={bell}>
              <Notifications session={session} />
            </Suspense>
          ) : (
            bell
          ))}
        <AccountMenu session={session} />
      </div>
    </section>
  )
}
