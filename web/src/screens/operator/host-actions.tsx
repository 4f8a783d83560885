// What an operator does with a host: the items of its menu, and the dialogs that they open.
import { NumberInput } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { useWrite } from '../../api/client.ts'
import { operatorRequest, type Host } from '../../api/operator.ts'
import { ConfirmDialog, Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import type { MenuItem } from '../../ui/RowMenu.tsx'
import { commonMessages, operatorMessages } from '../../words/words.ts'
import { DrainDialog } from './DrainDialog.tsx'
import { AnnounceMaintenance } from './Maintenances.tsx'

const w = operatorMessages.hosts

interface Open {
  what: 'maintenance' | 'overcommit' | 'drain' | 'announce'
  host: Host
}

export function useHostActions(): { itemsOf: (host: Host) => MenuItem[]; dialog: ReactNode } {
  const [open, setOpen] = useState<Open | null>(null)
  const close = (): void => setOpen(null)
  const end = useWrite(({ id }: Host) => operatorRequest('PATCH', `/hosts/${id}`, { maintenance: false }), {
    invalidates: ['operator'],
    successMessage: w.maintenanceDisabled,
  })
  const itemsOf = (host: Host): MenuItem[] =>
    host.state === 'destroyed'
      ? []
      : [
          host.maintenance
            ? { label: w.disableMaintenance, onClick: () => end.mutate(host) }
            : { label: w.enableMaintenance, onClick: () => setOpen({ what: 'maintenance', host }) },
          {
            label: host.draining ? operatorMessages.drain.progress : operatorMessages.drain.open,
            onClick: () => setOpen({ what: 'drain', host }),
          },
          { label: operatorMessages.maintenances.open, onClick: () => setOpen({ what: 'announce', host }) },
          { label: w.overcommit, onClick: () => setOpen({ what: 'overcommit', host }) },
        ]
  return { itemsOf, dialog: open && <HostDialog {...open} onClose={close} /> }
}

function HostDialog({ what, host, onClose }: Open & { onClose: () => void }) {
  if (what === 'maintenance') return <EnableMaintenance host={host} onClose={onClose} />
  if (what === 'drain') return <DrainDialog host={host} onClose={onClose} />
  if (what === 'announce') return <AnnounceMaintenance host={host} onClose={onClose} />
  return <Overcommit host={host} onClose={onClose} />
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
