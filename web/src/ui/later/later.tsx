// Parts that the first view does not need: dialogs, menus, inputs with a list. Each is fetched when it is first shown, and all of them once the
// page has nothing else to do, so that nobody waits for one.
import { lazy, Suspense, type ComponentType } from 'react'

type Load<Props> = () => Promise<{ default: ComponentType<Props> }>

const loads: (() => Promise<unknown>)[] = []

export function later<Props extends object>(load: Load<Props>): ComponentType<Props> {
  loads.push(load)
  const Part = lazy(load) as unknown as ComponentType<Props>
  return (props) => (
    <Suspense>
      <Part {...props} />
    </Suspense>
  )
}

export function loadAll(): void {
  for (const load of loads) void load().catch(() => {}) // tried again where it is needed
}
