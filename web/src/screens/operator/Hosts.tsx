import { NumberInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useWrite } from '../../api/client.ts'
import { hostsQuery, operatorRequest, type Host } from '../../api/operator.ts'
import { ConfirmDialog, Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { RowMenu } from '../../ui/RowMenu.tsx'
import { Status, type Tone } from '../../ui/Status.tsx'
import type { Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { commonMessages, operatorMessages } from '../../words/words.ts'
import { CapacityMeter } from './CapacityMeter.tsx'
import { DrainDialog } from './DrainDialog.tsx'
import { List } from './List.tsx'
import { AnnounceMaintenance, Maintenances } from './Maintenances.tsx'
import { Recoveries } from './Recoveries.tsx'

const w = operatorMessages.hosts
const TONES: Record<Host['state'], Tone> = {
  ready: 'good',
  maintenance: 'held',
  unreachable: 'bad',
  lost: 'bad',
  fenced: 'bad',
  destroyed: 'bad',
  unseen: 'idle',
}
/** What to do is done by commands. */
const RUNBOOKS: Partial<Record<Host['state'], string>> = {
  unreachable: '/docs/operate/runbooks#host-unreachable',
  lost: '/docs/operate/runbooks#a-host-is-lost-its-vms-are-on-ceph',
  fenced: '/docs/operate/runbooks#a-host-is-lost-its-vms-are-on-ceph',
  destroyed: '/docs/operate/runbooks#a-host-is-lost',
}

export default function Hosts() {
  const [open, setOpen] = useState<{ what: 'maintenance' | 'overcommit' | 'drain' | 'announce'; host: Host } | null>(null)
  const close = (): void => setOpen(null)
  const hosts = useQuery(hostsQuery)
  const end = useWrite(({ id }: Host) => operatorRequest('PATCH', `/hosts/${id}`, { maintenance: false }), {
    invalidates: ['operator'],
    successMessage: w.maintenanceDisabled,
  })
  const columns: Column<Host>[] = [
    {
      head: w.name,
      cell: ({ name, region, driver, traits, dedicatedCpus }) => (
        <div>
          <strong>{name}</strong>
          <div className="muted">{[region, driver, ...traits].join(' · ')}</div>
          {dedicatedCpus.total > 0 && <div className="muted">{w.dedicated(dedicatedCpus.used, dedicatedCpus.total)}</div>}
        </div>
      ),
    },
    {
      head: w.state,
      cell: ({ state, draining }) => (
        <div>
          <Status tone={TONES[state]}>{draining && state === 'maintenance' ? w.draining : w.states[state]}</Status>
          {RUNBOOKS[state] && (
            <div>
              <a href={RUNBOOKS[state]}>{w.runbook}</a>
            </div>
          )}
        </div>
      ),
    },
    { head: w.vms, cell: ({ vmCount }) => vmCount, right: true },
    { head: w.vcpu, cell: ({ vcpu, name }) => <CapacityMeter of={vcpu} what={w.vcpu} where={name} /> },
    { head: w.ram, cell: ({ ramMiB, name }) => <CapacityMeter of={ramMiB} what={w.ram} where={name} unit="GiB" mebibytes /> },
    { head: w.disk, cell: ({ diskGiB, name }) => <CapacityMeter of={diskGiB} what={w.disk} where={name} unit="GiB" /> },
    { head: w.seen, cell: ({ lastSeenAt }) => (lastSeenAt ? <Time at={lastSeenAt} as="ago" /> : commonMessages.never), right: true },
    {
      head: commonMessages.actions,
      quiet: true,
      shrink: true,
      right: true,
      cell: (host) =>
        host.state !== 'destroyed' && (
          <RowMenu
            name={host.name}
            items={[
              host.maintenance
                ? { label: w.disableMaintenance, onClick: () => end.mutate(host) }
                : { label: w.enableMaintenance, onClick: () => setOpen({ what: 'maintenance', host }) },
              {
                label: host.draining ? operatorMessages.drain.progress : operatorMessages.drain.open,
                onClick: () => setOpen({ what: 'drain', host }),
              },
              { label: operatorMessages.maintenances.open, onClick: () => setOpen({ what: 'announce', host }) },
              { label: w.overcommit, onClick: () => setOpen({ what: 'overcommit', host }) },
            ]}
          />
        ),
    },
  ]
  return (
    <List messages={w} icon="server" of={hosts} columns={columns} rowKey={({ id }) => id}>
      <Recoveries />
      <Maintenances />
      {open?.what === 'maintenance' && <EnableMaintenance host={open.host} onClose={close} />}
      {open?.what === 'drain' && <DrainDialog host={open.host} onClose={close} />}
      {open?.what === 'announce' && <AnnounceMaintenance host={open.host} onClose={close} />}
      {open?.what === 'overcommit' && <Overcommit host={open.host} onClose={close} />}
    </List>
  )
}

function EnableMaintenance({ host, onClose }: { host: Host; onClose: () => void }) {
  const write = useWrite(() => operatorRequest('PATCH', `/hosts/${host.id}`, { maintenance: true }), {
    inForm: true,
    invalidates: ['operator'],
    successMessage: w.maintenanceEnabled,
  })
  return (
    <ConfirmDialog title={w.maintenanceTitle(host.name)} submit={w.enableMaintenance} write={write} onClose={onClose}>
      {w.maintenanceAbout(host.vmCount)}
    </ConfirmDialog>
  )
}

function Overcommit({ host, onClose }: { host: Host; onClose: () => void }) {
  const [overcommit, setOvercommit] = useState(host.overcommit)
  const [ramOvercommit, setRamOvercommit] = useState(host.ramOvercommit)
  const write = useWrite(() => operatorRequest('PATCH', `/hosts/${host.id}`, { overcommit, ramOvercommit }), {
    inForm: true,
    invalidates: ['operator'],
    successMessage: commonMessages.saved,
    onDone: onClose,
  })
  return (
    <Dialog title={w.overcommit} onClose={onClose}>
      <Form onSubmit={() => write.mutate()} busy={write.isPending} error={write.error} submit={commonMessages.save} onCancel={onClose}>
        <NumberInput
          label={w.overcommitLabel}
          description={w.overcommitAbout}
          min={1}
          max={100}
          step={0.5}
          value={overcommit}
          onChange={(value) => setOvercommit(Number(value))}
          data-autofocus
        />
        <NumberInput
          label={w.ramOvercommitLabel}
          min={1}
          max={10}
          step={0.1}
          value={ramOvercommit}
          onChange={(value) => setRamOvercommit(Number(value))}
        />
      </Form>
    </Dialog>
  )
}
