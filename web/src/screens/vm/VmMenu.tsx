import { ActionIcon, Menu } from '@mantine/core'
import type { Vm } from '@berth/sdk'
import { useNavigate } from '@tanstack/react-router'
import { useRef, useState, type ReactNode } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { Icon, type IconName } from '../../ui/Icon.tsx'
import { commonMessages, vmMessages as w } from '../../words/words.ts'
import { disabledReason } from './ActionButton.tsx'
import { DeleteVm, RebuildVm, ResetVmPassword } from './DangerZone.tsx'
import { ConfirmIso } from './Iso.tsx'
import { ConfirmRescue } from './Rescue.tsx'
import { ConfirmShelving } from './Shelving.tsx'
import { CreateCopy } from './SnapshotsBackups.tsx'

type Open = 'snapshot' | 'backup' | 'rescue' | 'iso' | 'shelve' | 'password' | 'rebuild' | 'delete'

interface Entry {
  label: string
  icon: IconName
  /** Of `allowedActions`; none: always possible. */
  action?: string
  danger?: boolean
  onClick: () => void
}

/** Everything that can be done to the VM. What cannot be done now says why. */
export function VmMenu({ vm, onPowerOff, onReset }: { vm: Vm; onPowerOff: () => void; onReset: () => void }) {
  const [open, setOpen] = useState<Open | null>(null)
  const target = useRef<HTMLButtonElement>(null)
  const navigate = useNavigate()
  const goTo = (tab: string): void => void navigate({ to: '/vms/$vmId', params: { vmId: vm.id }, search: { tab } })
  const protect = useWrite(() => berth.vms.update(vm.id, { isProtected: !vm.isProtected }), {
    invalidates: ['vm', 'vms'],
    successMessage: commonMessages.saved,
  })
  const rescueVerb = vm.rescue ? 'unrescue' : 'rescue'
  const isoVerb = vm.iso ? 'detachIso' : 'attachIso'
  const groups: [string, Entry[]][] = [
    [
      w.menu.power,
      [
        { label: w.powerOff, icon: 'stop', action: 'stop', onClick: onPowerOff },
        { label: w.reset, icon: 'restart', action: 'restart', onClick: onReset },
        { label: w[rescueVerb], icon: 'heart', action: rescueVerb, onClick: () => setOpen('rescue') },
        { label: w[isoVerb], icon: 'disk', action: isoVerb, onClick: () => setOpen('iso') },
        ...(vm.shelvedAt === null ? [{ label: w.shelve, icon: 'box', action: 'shelve', onClick: () => setOpen('shelve') } as const] : []),
      ],
    ],
    [
      w.menu.copies,
      [
        { label: w.copies.createSnapshot, icon: 'camera', action: 'snapshot', onClick: () => setOpen('snapshot') },
        { label: w.copies.createBackup, icon: 'copy', action: 'backup', onClick: () => setOpen('backup') },
      ],
    ],
    [
      w.menu.change,
      [
        { label: w.menu.console, icon: 'terminal', action: 'console', onClick: () => goTo('console') },
        { label: w.menu.resize, icon: 'chart', action: 'resize', onClick: () => goTo('settings') },
        { label: w.menu.password, icon: 'key', action: 'password', onClick: () => setOpen('password') },
        { label: vm.isProtected ? w.menu.unprotect : w.menu.protect, icon: 'lock', onClick: () => protect.mutate() },
        { label: w.menu.rebuild, icon: 'restart', action: 'rebuild', danger: true, onClick: () => setOpen('rebuild') },
        { label: w.menu.delete, icon: 'trash', action: 'delete', danger: true, onClick: () => setOpen('delete') },
      ],
    ],
  ]
  const close = (): void => setOpen(null)
  return (
    <>
      <Menu position="bottom-end" width={270}>
        <Menu.Target>
          <ActionIcon ref={target} variant="default" size={36} aria-label={w.powerMenu}>
            <Icon name="more" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown mah="min(620px, 80vh)" style={{ overflowY: 'auto' }}>
          {groups.map(([name, entries]) => (
            <Group key={name} name={name}>
              {entries.map((entry) => (
                <Item key={entry.label} vm={vm} {...entry} onClick={() => (target.current?.focus(), entry.onClick())} />
              ))}
            </Group>
          ))}
        </Menu.Dropdown>
      </Menu>
      {open === 'rescue' && <ConfirmRescue vm={vm} onClose={close} />}
      {open === 'iso' && <ConfirmIso vm={vm} onClose={close} />}
      {open === 'shelve' && <ConfirmShelving vm={vm} verb="shelve" onClose={close} />}
      {open === 'snapshot' && <CreateCopy vmId={vm.id} kind="snapshots" onClose={close} />}
      {open === 'backup' && <CreateCopy vmId={vm.id} kind="backups" onClose={close} />}
      {open === 'password' && <ResetVmPassword vm={vm} onClose={close} />}
      {open === 'rebuild' && <RebuildVm vm={vm} onClose={close} />}
      {open === 'delete' && <DeleteVm vm={vm} onClose={close} />}
    </>
  )
}

const Group = ({ name, children }: { name: string; children: ReactNode }) => (
  <>
    <Menu.Label>{name}</Menu.Label>
    {children}
  </>
)

/** One that is not possible keeps its place and can be reached by keyboard, so that its reason is read. */
function Item({ vm, label, icon, action, danger = false, onClick }: Entry & { vm: Vm }) {
  const reason = action === undefined ? null : disabledReason(vm, action)
  return (
    <Menu.Item
      leftSection={<Icon name={icon} size={16} />}
      color={danger && reason === null ? 'red' : undefined}
      aria-disabled={reason !== null}
      closeMenuOnClick={reason === null}
      onClick={() => reason === null && onClick()}
      style={reason === null ? undefined : { cursor: 'not-allowed', color: 'var(--muted)' }}
    >
      {label}
      {reason !== null && <span style={{ display: 'block', fontSize: 'var(--text-xs)' }}>{reason}</span>}
    </Menu.Item>
  )
}
