// How a host is added: a token and the commands for the machine, then what is still missing until it is there.
import { NativeSelect, NumberInput, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { operatorRegionsQuery, operatorRequest, type Host, type HostEnrollment } from '../../api/operator.ts'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { Stack } from '../../ui/Page.tsx'
import { hostMessages } from '../../words/words.ts'
import { EnrollmentSteps } from './EnrollmentSteps.tsx'

const w = hostMessages.add
type Kind = keyof typeof w.kinds

export function AddHost({ hosts, onClose }: { hosts: Host[]; onClose: () => void }) {
  const [kind, setKind] = useState<Kind>('machine')
  const [made, setMade] = useState<(HostEnrollment & { token: string }) | null>(null)
  const maySimulate = hosts.every(({ driver }) => driver === 'simulated')
  return (
    <Dialog title={w.open} onClose={onClose} size="lg">
      {made ? (
        <EnrollmentSteps enrollment={made} token={made.token} />
      ) : (
        <Stack gap={16}>
          {maySimulate && (
            <NativeSelect
              label={w.kind}
              value={kind}
              onChange={(event) => setKind(event.currentTarget.value as Kind)}
              data={Object.entries(w.kinds).map(([value, label]) => ({ value, label }))}
            />
          )}
          {kind === 'machine' ? <Machine onMade={setMade} onCancel={onClose} /> : <Simulated onClose={onClose} />}
          <a href="/docs/operate/hosts#add-a-host">{w.guide}</a>
        </Stack>
      )}
    </Dialog>
  )
}

function useRegion() {
  const regions = useQuery(operatorRegionsQuery).data ?? []
  const [slug, setSlug] = useState('')
  const region = slug || (regions[0]?.slug ?? '')
  const field = (error: string | undefined) => (
    <NativeSelect
      label={w.region}
      value={region}
      onChange={(event) => setSlug(event.currentTarget.value)}
      data={regions.map((each) => ({ value: each.slug, label: each.name }))}
      error={error}
    />
  )
  return { region, field }
}

const typed = { autoComplete: 'off', spellCheck: false } as const

function Machine({ onMade, onCancel }: { onMade: (made: HostEnrollment & { token: string }) => void; onCancel: () => void }) {
  const { region, field } = useRegion()
  const [{ address, name, uplink }, setFields] = useState({ address: '', name: '', uplink: '' })
  const write = useWrite(
    () =>
      operatorRequest<HostEnrollment & { token: string }>('POST', '/host-enrollments', {
        address: address.trim(),
        name: name.trim(),
        region,
        uplink: uplink.trim() || null,
      }),
    { inForm: true, invalidates: ['operator'], onDone: onMade },
  )
  return (
    <Form onSubmit={() => write.mutate()} busy={write.isPending} error={write.error} submit={w.create} onCancel={onCancel}>
      <p className="muted">{w.about}</p>
      <TextInput
        label={w.name}
        value={name}
        onChange={(event) => setFields({ address, name: event.currentTarget.value, uplink })}
        error={fieldError(write.error, 'name')}
        data-autofocus
        {...typed}
      />
      <TextInput
        label={w.address}
        description={w.addressHint}
        value={address}
        onChange={(event) => setFields({ address: event.currentTarget.value, name, uplink })}
        error={fieldError(write.error, 'address')}
        {...typed}
      />
      {field(fieldError(write.error, 'region'))}
      <TextInput
        label={w.uplink}
        description={w.uplinkHint}
        value={uplink}
        onChange={(event) => setFields({ address, name, uplink: event.currentTarget.value })}
        error={fieldError(write.error, 'uplink')}
        {...typed}
      />
    </Form>
  )
}

const SIZES = ['vcpu', 'ramMiB', 'diskGiB'] as const

function Simulated({ onClose }: { onClose: () => void }) {
  const { region, field } = useRegion()
  const [name, setName] = useState('')
  const [size, setSize] = useState({ vcpu: 32, ramMiB: 131_072, diskGiB: 4_000 })
  const write = useWrite(() => operatorRequest('POST', '/hosts', { name: name.trim(), region, ...size }), {
    inForm: true,
    invalidates: ['operator'],
    successMessage: w.added,
    onDone: onClose,
  })
  return (
    <Form onSubmit={() => write.mutate()} busy={write.isPending} error={write.error} submit={w.open} onCancel={onClose}>
      <p className="muted">{w.simulatedAbout}</p>
      <TextInput
        label={w.name}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={fieldError(write.error, 'name')}
        data-autofocus
        {...typed}
      />
      {field(fieldError(write.error, 'region'))}
      {SIZES.map((part) => (
        <NumberInput
          key={part}
          label={w.sizes[part]}
          min={1}
          value={size[part]}
          onChange={(value) => setSize({ ...size, [part]: Number(value) })}
          error={fieldError(write.error, part)}
        />
      ))}
    </Form>
  )
}
