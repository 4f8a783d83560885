import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { hostsQuery, operatorRequest, poolsQuery, type Pool } from '../../api/operator.ts'
import { regionsQuery } from '../../queries/catalog.ts'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Meter } from '../../ui/Meter.tsx'
import type { Column } from '../../ui/Table.tsx'
import { operatorMessages } from '../../words/words.ts'
import { List } from './List.tsx'

const w = operatorMessages.pools

const COLUMNS: Column<Pool>[] = [
  { head: w.cidr, cell: ({ cidr }) => <code>{cidr}</code> },
  { head: w.gateway, cell: ({ gateway }) => <code>{gateway}</code> },
  { head: w.region, cell: ({ region }) => region },
  { head: w.host, cell: ({ host }) => host ?? w.anyHost },
  { head: w.dns, cell: ({ dns }) => <code>{dns.join(', ')}</code> },
  {
    head: w.used,
    cell: ({ cidr, free, resting, total }) =>
      free === null || resting === null || total === null ? (
        <span className="muted">{w.uncounted}</span>
      ) : (
        <Meter used={total - free} of={total} label={w.usedOf(cidr)} text={w.of(total - free - resting, total, resting)} />
      ),
  },
]

export default function Pools() {
  const [adds, setAdds] = useState(false)
  const pools = useQuery(poolsQuery)
  const add = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAdds(true)}>
      {w.create}
    </Button>
  )
  return (
    <List messages={w} icon="globe" of={pools} columns={COLUMNS} rowKey={({ id }) => id} actions={add}>
      {adds && <AddPool onClose={() => setAdds(false)} />}
    </List>
  )
}

function AddPool({ onClose }: { onClose: () => void }) {
  const regions = useQuery(regionsQuery).data ?? []
  const hosts = useQuery(hostsQuery).data ?? []
  const [region, setRegion] = useState('')
  const [host, setHost] = useState('')
  const [cidr, setCidr] = useState('')
  const [gateway, setGateway] = useState('')
  const [dns, setDns] = useState('')
  const slug = region || (regions[0]?.slug ?? '')
  const body = { region: slug, cidr, gateway, host: host || null, ...(dns && { dns: dns.split(/[\s,]+/).filter(Boolean) }) }
  const add = useWrite(() => operatorRequest('POST', '/pools', body), {
    inForm: true,
    invalidates: ['operator'],
    successMessage: w.created,
    onDone: onClose,
  })
  return (
    <Dialog title={w.create} onClose={onClose}>
      <Form onSubmit={() => add.mutate()} busy={add.isPending} error={add.error} submit={w.create} onCancel={onClose}>
        <NativeSelect
          label={w.region}
          value={slug}
          onChange={(event) => setRegion(event.currentTarget.value)}
          data={regions.map((each) => ({ value: each.slug, label: each.name }))}
        />
        <NativeSelect
          label={w.host}
          value={host}
          onChange={(event) => setHost(event.currentTarget.value)}
          data={[
            { value: '', label: w.anyHost },
            ...hosts.filter((each) => each.region === slug).map(({ name }) => ({ value: name, label: name })),
          ]}
        />
        <TextInput
          label={w.cidr}
          value={cidr}
          onChange={(event) => setCidr(event.currentTarget.value.trim())}
          error={fieldError(add.error, 'cidr')}
          data-autofocus
        />
        <TextInput
          label={w.gateway}
          value={gateway}
          onChange={(event) => setGateway(event.currentTarget.value.trim())}
          error={fieldError(add.error, 'gateway')}
        />
        <TextInput
          label={w.dns}
          description={w.dnsHint}
          value={dns}
          onChange={(event) => setDns(event.currentTarget.value)}
          error={fieldError(add.error, 'dns')}
        />
      </Form>
    </Dialog>
  )
}
