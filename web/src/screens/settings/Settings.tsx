import { Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { sessionQuery } from '../../api/session.ts'
import { Page } from '../../ui/Page.tsx'
import { usePaging } from '../../ui/paging.ts'
import { settingsMessages as w } from '../../words/words.ts'
import { ApiKeys } from './ApiKeys.tsx'
import { Limits } from './Limits.tsx'
import { Profile } from './Profile.tsx'
import { Security } from './Security.tsx'
import { Sessions } from './Sessions.tsx'

const TABS = { keys: ApiKeys, security: Security, sessions: Sessions, profile: Profile, limits: Limits }
type Tab = keyof typeof TABS
const NAMES = Object.keys(TABS) as Tab[]
/** Hidden from an operator who has signed in as a customer: they are those of the user. */
const OF_USER: ReadonlySet<Tab> = new Set(['security', 'sessions', 'profile'])

export default function Settings() {
  const { search, setSearch } = usePaging()
  const session = useQuery(sessionQuery).data
  const scopes = session?.account?.scopes ?? []
  const names = NAMES.filter((name) => (name !== 'keys' || scopes.includes('tokens:read')) && !(session?.visit && OF_USER.has(name)))
  const [first = 'security'] = names
  const tab = names.find((name) => name === search.tab) ?? first
  return (
    <Page title={w.title}>
      <Tabs value={tab} onChange={(next) => setSearch({ tab: next === first ? undefined : (next ?? undefined) })} keepMounted={false}>
        <Tabs.List mb={20}>
          {names.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {w.tabs[name]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {names.map((name) => {
          const Content = TABS[name]
          return (
            <Tabs.Panel key={name} value={name}>
              <Content />
            </Tabs.Panel>
          )
        })}
      </Tabs>
    </Page>
  )
}
