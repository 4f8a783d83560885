// The layout around every screen that requires a session.
import { ActionIcon, Drawer } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Outlet, useRouterState } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import type { Session } from '../api/session.ts'
import { useLiveUpdates } from '../live/useLive.ts'
import { Icon } from '../ui/Icon.tsx'
import { commonMessages, shellMessages as w } from '../words/words.ts'
import { Brand } from './Brand.tsx'
import { LiveBadge } from './LiveBadge.tsx'
import { Navigation } from './Navigation.tsx'
import { Reauthenticate } from './Reauthenticate.tsx'
import { Search } from './Search.tsx'
import css from './shell.module.css'
import { UserMenu } from './UserMenu.tsx'

export function Shell({ session }: { session: Session }) {
  const live = useLiveUpdates()
  const [opened, drawer] = useDisclosure(false)
  const main = useFocusOnNavigation()
  const below = (
    <div className={css['below']}>
      <a className={css['docs']} href="/docs/guides">
        <Icon name="book" size={16} />
        {w.guides}
      </a>
      <a className={css['docs']} href="/docs">
        <Icon name="code" size={16} />
        {w.docs}
      </a>
      <LiveBadge state={live} />
      <UserMenu session={session} />
    </div>
  )
  return (
    <div className={css['shell']}>
      <a href="#content" className={css['skip']}>
        {w.skip}
      </a>
      <aside className={css['side']}>
        <div className={css['top']}>
          <Brand />
        </div>
        <Navigation session={session} />
        {below}
      </aside>
      <section className={css['bar']} aria-label={w.bar}>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={w.openMenu} aria-expanded={opened} onClick={drawer.open}>
          <Icon name="menu" size={20} />
        </ActionIcon>
        <Brand size={24} />
        <LiveBadge state={live} />
        <Search session={session} />
      </section>
      <Drawer opened={opened} onClose={drawer.close} size={280} title={<Brand />} closeButtonProps={{ 'aria-label': commonMessages.close }}>
        <Navigation session={session} onPick={drawer.close} />
        {below}
      </Drawer>
      <main id="content" ref={main} tabIndex={-1} className={css['main']}>
        <Outlet />
      </main>
      <Reauthenticate totpEnabled={session.user.totpEnabled} />
    </div>
  )
}

/** Moves the focus to the content after navigation, so that screen readers start at the top of the new screen. */
function useFocusOnNavigation() {
  const main = useRef<HTMLElement>(null)
  const path = useRouterState({ select: (state) => state.location.pathname })
  const shown = useRef(path)
  useEffect(() => {
    if (shown.current === path) return
    shown.current = path
    main.current?.focus({ preventScroll: true })
  }, [path])
  return main
}
