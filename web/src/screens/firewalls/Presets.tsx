import { Button, Menu, NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { sessionsQuery } from '../../api/session.ts'
import { networksQuery } from '../../queries/network.ts'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Missing } from '../../ui/Missing.tsx'
import { TextLink } from '../../ui/links.tsx'
import { firewallMessages as w, networkMessages } from '../../words/words.ts'
import css from './firewalls.module.css'
import { DATABASES, databaseRule, presetsFor } from './presets.ts'
import { isSameMatch, type Rule } from './rule.ts'
import type { Draft } from './useDraft.ts'

/** The address that this browser is seen with. */
export const useOwnAddress = (): string | undefined => useQuery(sessionsQuery).data?.find(({ isCurrent }) => isCurrent)?.ip

/** Each preset can be added once. */
export function Presets({ draft }: { draft: Draft }) {
  const [asksDatabase, setAsksDatabase] = useState(false)
  const { rules } = draft
  const isThere = (wanted: Rule[]): boolean => wanted.every((rule) => rules.some((each) => isSameMatch(each, rule)))
  const add = (wanted: Rule[], replaces = false): void =>
    draft.set(replaces ? wanted : [...rules, ...wanted.filter((rule) => !rules.some((each) => isSameMatch(each, rule)))])
  return (
    <>
      <Menu position="bottom-end" width={300}>
        <Menu.Target>
          <Button variant="default" size="xs" rightSection={<Icon name="down" size={14} />}>
            {w.presetsLabel}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {presetsFor(useOwnAddress()).map(({ name, about, rules: make, replaces = false }) => {
            const wanted = make()
            const exists = isThere(wanted) && (!replaces || rules.length === wanted.length)
            return (
              <Menu.Item key={name} disabled={exists} onClick={() => add(wanted, replaces)}>
                {name}
                <span className={css['presetAbout']}>{exists ? w.presetExists : about}</span>
              </Menu.Item>
            )
          })}
          <Menu.Item onClick={() => setAsksDatabase(true)}>
            {w.presets.database}
            <span className={css['presetAbout']}>{w.presets.databaseAbout}</span>
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {asksDatabase && <DatabaseDialog onAdd={(rule) => add([rule])} onClose={() => setAsksDatabase(false)} />}
    </>
  )
}

function DatabaseDialog({ onAdd, onClose }: { onAdd: (rule: Rule) => void; onClose: () => void }) {
  const networks = useQuery(networksQuery()).data?.items ?? []
  const [port, setPort] = useState<string>(DATABASES[0].port)
  const [chosen, setChosen] = useState('')
  const network = networks.find(({ id }) => id === chosen) ?? networks[0]
  const submit = (): void => {
    if (network)
      onAdd(
        databaseRule(
          DATABASES.find((each) => each.port === port)!,
          network.cidr,
        ),
      )
    onClose()
  }
  return (
    <Dialog title={w.presets.database} onClose={onClose}>
      <Form onSubmit={submit} busy={false} error={null} submit={w.addRule} onCancel={onClose} disabled={!network}>
        <NativeSelect
          label={w.presets.databaseKind}
          value={port}
          onChange={(event) => setPort(event.currentTarget.value)}
          data={DATABASES.map((each) => ({ value: each.port, label: `${each.name} (${each.port})` }))}
          data-autofocus
        />
        {network ? (
          <NativeSelect
            label={w.presets.databaseNetwork}
            description={w.presets.databaseNetworkAbout}
            value={network.id}
            onChange={(event) => setChosen(event.currentTarget.value)}
            data={networks.map(({ id, name, cidr }) => ({ value: id, label: `${name} (${cidr})` }))}
          />
        ) : (
          <Missing text={w.presets.noNetworks} link={<TextLink to="/networks">{networkMessages.create}</TextLink>} />
        )}
      </Form>
    </Dialog>
  )
}
