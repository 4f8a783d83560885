import { NativeSelect, Switch, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { regionsQuery } from '../../queries/catalog.ts'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { networkMessages as w } from '../../words/words.ts'
import { describeCidr } from './cidr.ts'

export function CreateNetwork({ onClose }: { onClose: () => void }) {
  const regions = useQuery(regionsQuery).data ?? []
  const [name, setName] = useState('')
  const [region, setRegion] = useState('')
  const [cidr, setCidr] = useState('10.20.0.0/24')
  const [gateway, setGateway] = useState('')
  const [enableSnat, setSnat] = useState(true)
  const [enableDhcp, setDhcp] = useState(true)
  const regionId = region || (regions[0]?.id ?? '')
  const create = useWrite(() => berth.networks.create({ name, nodeId: regionId, cidr, gateway: gateway || null, enableSnat, enableDhcp }), {
    inForm: true,
    invalidates: ['networks', 'limits'],
    successMessage: (network) => w.created(network.name),
    onDone: onClose,
  })
  return (
    <Dialog title={w.create} onClose={onClose} size="lg">
      <Form onSubmit={() => create.mutate()} busy={create.isPending} error={create.error} submit={w.create} onCancel={onClose}>
        <TextInput
          label={w.name}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={fieldError(create.error, 'name')}
          maxLength={100}
          data-autofocus
        />
        <NativeSelect
          label={w.region}
          value={regionId}
          onChange={(event) => setRegion(event.currentTarget.value)}
          data={regions.map(({ id, name: label }) => ({ value: id, label }))}
        />
        <TextInput
          label={w.cidr}
          description={describeCidr(cidr)}
          value={cidr}
          onChange={(event) => setCidr(event.currentTarget.value.trim())}
          error={fieldError(create.error, 'cidr')}
        />
        <TextInput
          label={w.gateway}
          description={w.gatewayHint}
          value={gateway}
          onChange={(event) => setGateway(event.currentTarget.value.trim())}
          error={fieldError(create.error, 'gateway')}
        />
        <Switch label={w.snat} description={w.snatAbout} checked={enableSnat} onChange={(event) => setSnat(event.currentTarget.checked)} />
        <Switch label={w.dhcp} description={w.dhcpAbout} checked={enableDhcp} onChange={(event) => setDhcp(event.currentTarget.checked)} />
      </Form>
    </Dialog>
  )
}
