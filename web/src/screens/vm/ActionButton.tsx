// A button for an action of a VM. When the action is not allowed, a tooltip gives the reason.
import { Button, Tooltip, type ButtonProps } from '@mantine/core'
import type { Vm } from '@berth/sdk'
import type { ReactNode } from 'react'
import { vmMessages as w, vmsMessages } from '../../words/words.ts'

/** Only failed VMs have cancelled billing: they were refunded, and have neither a disk nor an IP address. */
export const failedToProvision = (vm: Vm): boolean => vm.billing.status === 'CANCELLED'

/** Null if the action is allowed. */
export function disabledReason(vm: Vm, action: string): string | null {
  if (vm.allowedActions.includes(action)) return null
  if (vm.currentAction) return w.disabled.busy(vmsMessages.actionNames[vm.currentAction.action] ?? vm.currentAction.action)
  if (vm.isProtected && ['delete', 'rebuild', 'restore'].includes(action)) return w.disabled.protected
  if (failedToProvision(vm)) return w.disabled.failed
  if (vm.shelvedAt !== null) return w.disabled.shelved
  if (vm.rescue !== null && action !== 'start') return w.disabled.inRescue
  if (vm.iso !== null && ['rebuild', 'restore', 'shelve'].includes(action)) return w.disabled.hasIso
  if ((vm.status === 'SUSPENDED' || vm.status === 'UNMANAGED') && vm.statusReason) return vm.statusReason
  return w.disabled.state(vmsMessages.statuses[vm.status])
}

interface Props extends ButtonProps {
  vm: Vm
  action: string
  onClick: () => void
  children: ReactNode
}

export function ActionButton({ vm, action, onClick, children, ...props }: Props) {
  const reason = disabledReason(vm, action)
  const button = (
    <Button
      {...props}
      aria-disabled={reason !== null}
      data-disabled={reason !== null || undefined}
      onClick={() => reason === null && onClick()}
    >
      {children}
    </Button>
  )
  return reason === null ? button : <Tooltip label={reason}>{button}</Tooltip>
}
