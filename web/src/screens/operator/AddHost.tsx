// How a host is added: the commands for it, and whether it has arrived.
import { NativeSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { operatorRegionsQuery, type Host } from '../../api/operator.ts'
import { Code } from '../../ui/CopyButton.tsx'
import { Dialog } from '../../ui/Dialogs.tsx'
import { TextLink } from '../../ui/links.tsx'
import { Stack } from '../../ui/Page.tsx'
import { Status } from '../../ui/Status.tsx'
import { hostMessages, operatorMessages } from '../../words/words.ts'
import { commandsFor, isAddress, isHostName } from './host-commands.ts'

const w = hostMessages.add

export function AddHost({ hosts, onClose }: { hosts: Host[]; onClose: () => void }) {
  const regions = useQuery(operatorRegionsQuery).data ?? []
  const [{ address, name, region }, setFields] = useState({ address: '', name: '', region: '' })
  const fields = { address: address.trim(), name: name.trim(), region: region || (regions[0]?.slug ?? '') }
  const commands = commandsFor(fields)
  return (
    <Dialog title={w.open} onClose={onClose} size="lg">
      <Stack gap={16}>
        <p className="muted">{w.about}</p>
        <TextInput
          label={w.address}
          description={w.addressHint}
          value={address}
          onChange={(event) => setFields({ address: event.currentTarget.value, name, region })}
          error={fields.address !== '' && !isAddress(fields.address) && w.notAnAddress}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
        />
        <TextInput
          label={w.name}
          value={name}
          onChange={(event) => setFields({ address, name: event.currentTarget.value, region })}
          error={fields.name !== '' && !isHostName(fields.name) && w.notAName}
          autoComplete="off"
          spellCheck={false}
        />
        <NativeSelect
          label={w.region}
          value={fields.region}
          onChange={(event) => setFields({ address, name, region: event.currentTarget.value })}
          data={regions.map((each) => ({ value: each.slug, label: each.name }))}
        />
        {commands === null ? (
          <p className="muted">{w.fillIn}</p>
        ) : (
          <>
            <ol style={{ display: 'grid', gap: 'var(--space-4)', margin: 0, paddingLeft: 'var(--space-5)' }}>
              {(['certificate', 'prepare', 'register'] as const).map((step) => (
                <li key={step}>
                  <div>{w[step]}</div>
                  <Code text={commands[step]} what={w.command(w[step])} />
                </li>
              ))}
            </ol>
            <Arrival name={fields.name} host={hosts.find((host) => host.name === fields.name)} />
          </>
        )}
        <a href="/docs/operate/hosts#add-a-host">{w.guide}</a>
      </Stack>
    </Dialog>
  )
}

/** The list of hosts is read again every few seconds. */
function Arrival({ name, host }: { name: string; host: Host | undefined }) {
  if (!host) return <Status tone="busy">{w.waiting(name)}</Status>
  const link = (
    <TextLink to="/operator/hosts/$hostId" params={{ hostId: host.id }}>
      {w.show}
    </TextLink>
  )
  if (host.state === 'unseen') return <Status tone="busy">{w.known(name)}</Status>
  return (
    <div aria-live="polite">
      <Status tone={host.state === 'ready' ? 'good' : 'bad'}>
        {host.state === 'ready' ? w.ready(name) : w.problem(name, operatorMessages.hosts.states[host.state])}
      </Status>{' '}
      {link}
    </div>
  )
}
