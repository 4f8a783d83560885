import { Link, useRouterState } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import type { Session } from '../api/session.ts'
import { Icon } from '../ui/Icon.tsx'
import { shellMessages as w } from '../words/words.ts'
import { areaOf, startOf, visibleGroups, type Area } from './navigation.ts'
import css from './shell.module.css'

export function Navigation({ session, onPick }: { session: Session; onPick?: () => void }) {
  const nav = useRef<HTMLElement>(null)
  const path = useRouterState({ select: (state) => state.location.pathname })
  // The menu scrolls on small screens; keep the active item visible. The effect returns nothing: current browsers answer scrollIntoView with
  // a promise, which React would call as the clean-up.
  useEffect(() => {
    nav.current?.querySelector('[data-status=active]')?.scrollIntoView({ block: 'nearest' })
  }, [path])
  return (
    <nav ref={nav} aria-label={w.navigation} className={css['nav']}>
      {visibleGroups(session, areaOf(path)).map(({ label, items }) => (
        <div key={label ?? ''} className={css['group']}>
          {label && <div className={css['groupLabel']}>{label}</div>}
          <ul>
            {items.map(({ to, label: name, icon }) => (
              <li key={to}>
                <Link to={to} className={css['item']} activeOptions={{ exact: to === '/', includeSearch: false }} onClick={onPick}>
                  <Icon name={icon} />
                  {name}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  )
}

const AREAS: Area[] = ['customer', 'operator']

/** Between what an operator has as a customer and what they run. */
export function AreaSwitch({ onPick }: { onPick?: () => void }) {
  const path = useRouterState({ select: (state) => state.location.pathname })
  return (
    <nav aria-label={w.areas} className={css['areas']}>
      {AREAS.map((area) => (
        <Link
          key={area}
          to={startOf(area)}
          className={css['area']}
          activeProps={{}}
          aria-current={areaOf(path) === area ? 'true' : undefined}
          onClick={onPick}
        >
          {w.areaNames[area]}
        </Link>
      ))}
    </nav>
  )
}
