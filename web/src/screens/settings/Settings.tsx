import { Tabs } from '@mantine/core'
import { Page } from '../../ui/Page.tsx'
import { usePaging } from '../../ui/paging.ts'
import { settingsMessages as w } from '../../messages/settings.ts'
import { ApiKeys } from './ApiKeys.tsx'
import { Limits } from './Limits.tsx'
import { Profile } from './Profile.tsx'
import { Security } from './Security.tsx'
import { Sessions } from './Sessions.tsx'

const TABS = { keys: ApiKeys, security: Security, sessions: Sessions, profile: Profile, limits: Limits }
type Tab = keyof typeof TABS
const NAMES = Object.keys(TABS) as Tab[]

export default function Settings() {
  const { search, setSearch } = usePaging()
  const tab = NAMES.find((name) => name === search.tab) ?? 'keys'
  return (
    <Page title={w.title}>
      <Tabs value={tab} onChange={(next) => setSearch({ tab: next === 'keys' ? undefined : (next ?? undefined) })} keepMounted={false}>
        <Tabs.List mb={20}>
          {NAMES.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {w.tabs[name]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {NAMES.map((name) => {
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
