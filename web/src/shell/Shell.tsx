// The layout around every screen that requires a session: the bar at the top, the menu of the area at the side, on small screens in a drawer.
import { Outlet, useRouterState } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useLayoutEffect, useRef, type RefObject } from 'react'
import type { Session } from '../api/session.ts'
import { useLiveUpdates } from '../live/useLive.ts'
import { Icon } from '../ui/Icon.tsx'
import { commonMessages, shellMessages as w } from '../words/words.ts'
import { Brand } from './Brand.tsx'
import { areaOf } from './navigation.ts'
import { AreaSwitch, Navigation } from './Navigation.tsx'
import { Reauthenticate } from './Reauthenticate.tsx'
import css from './shell.module.css'
import { TopBar } from './TopBar.tsx'

const Announcements = lazy(() => import('./Announcements.tsx'))
const VisitBanner = lazy(() => import('./VisitBanner.tsx'))

export function Shell({ session }: { session: Session }) {
  const live = useLiveUpdates()
  const drawer = useRef<HTMLDialogElement>(null)
  const main = useFocusOnNavigation()
  useAreaColour()
  useCloseOnBackdrop(drawer)
  const close = (): void => drawer.current?.close()
  return (
    <div className={css['shell']}>
      <a href="#content" className={css['skip']}>
        {w.skip}
      </a>
      <TopBar session={session} live={live} onMenu={() => drawer.current?.showModal()} />
      <aside className={css['side']}>
        <Navigation session={session} />
        <Docs />
      </aside>
      <dialog ref={drawer} className={css['drawer']} aria-label={w.navigation}>
        <div className={css['drawerBody']}>
          <div className={css['drawerTop']}>
            <Brand size={24} />
            <button type="button" className={css['iconButton']} aria-label={commonMessages.close} onClick={close}>
              <Icon name="cross" />
            </button>
          </div>
          {session.user.isOperator && <AreaSwitch onPick={close} />}
          <Navigation session={session} onPick={close} />
          <Docs />
        </div>
      </dialog>
      <main id="content" ref={main} tabIndex={-1} className={css['main']}>
        {session.account?.scopes.includes('account:read') && (
          <Suspense>
            <Announcements />
          </Suspense>
        )}
        {session.visit && (
          <Suspense>
            <VisitBanner visit={session.visit} />
          </Suspense>
        )}
        <Outlet />
      </main>
      <Reauthenticate totpEnabled={session.user.totpEnabled} />
    </div>
  )
}

const Docs = () => (
  <div className={css['below']}>
    <a className={css['docs']} href="/docs/guides">
      <Icon name="book" size={16} />
      {w.guides}
    </a>
    <a className={css['docs']} href="/docs">
      <Icon name="code" size={16} />
      {w.docs}
    </a>
  </div>
)

/** On the root, because dialogs and popovers are not within the shell. */
function useAreaColour(): void {
  const area = useRouterState({ select: (state) => areaOf(state.location.pathname) })
  useLayoutEffect(() => {
    document.documentElement.dataset['area'] = area
    return () => void delete document.documentElement.dataset['area']
  }, [area])
}

/** A click on the backdrop is one on the dialog itself, not on what is in it. */
function useCloseOnBackdrop(drawer: RefObject<HTMLDialogElement | null>): void {
  useEffect(() => {
    const dialog = drawer.current
    const close = (event: MouseEvent): void => {
      if (event.target === dialog) dialog?.close()
    }
    dialog?.addEventListener('click', close)
    return () => dialog?.removeEventListener('click', close)
  }, [drawer])
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
