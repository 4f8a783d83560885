import type { VmListItem } from '@berth/sdk'
import { useNavigate } from '@tanstack/react-router'
import { RowMenu, type MenuItem } from '../../ui/RowMenu.tsx'
import { commonMessages, vmsMessages as w } from '../../words/words.ts'
import type { BulkAction } from './bulk.ts'

export type VmAction = BulkAction | 'LABELS' | 'RENAME'

/** Why something cannot be done now is said by its dialog, before anything is done. */
const IN_STATUS: Partial<Record<VmListItem['status'], BulkAction[]>> = {
  RUNNING: ['RESTART', 'STOP', 'SNAPSHOT'],
  STOPPED: ['START', 'SNAPSHOT'],
}

export function VmMenu({ vm, onAction }: { vm: VmListItem; onAction: (action: VmAction) => void }) {
  const navigate = useNavigate()
  const params = { vmId: vm.id }
  const itemOf = (action: BulkAction): MenuItem => ({ label: w.menu[action], onClick: () => onAction(action), danger: action === 'DELETE' })
  const items: MenuItem[] = [
    { label: w.menu.open, onClick: () => void navigate({ to: '/vms/$vmId', params }) },
    { label: w.menu.console, onClick: () => void navigate({ to: '/vms/$vmId', params, search: { tab: 'console' } }) },
    ...(vm.shelvedAt === null ? (IN_STATUS[vm.status] ?? []) : []).map(itemOf),
    { label: w.menu.resize, onClick: () => void navigate({ to: '/vms/$vmId', params, search: { tab: 'settings' } }) },
    { label: commonMessages.rename, onClick: () => onAction('RENAME') },
    { label: w.menu.labels, onClick: () => onAction('LABELS') },
    { label: w.menu.costs, onClick: () => void navigate({ to: '/wallet', search: { tab: 'transactions', referenceId: vm.id } }) },
    { ...itemOf('DELETE'), disabled: vm.isProtected },
  ]
  return <RowMenu name={vm.name} items={items} />
}
