// A button for something the API may refuse now. It says why, rather than being grey without a word.
import { Button, Tooltip, type ButtonProps } from '@mantine/core'
import type { Vm } from '@berth/sdk'
import type { ReactNode } from 'react'
import { vmsWords } from '../../messages/vms.ts'
import { vmWords as w } from '../../messages/vm.ts'

/** Only such VMs are paid for no more: they were refunded, and hold neither a disk nor an address. */
export const neverCameUp = (vm: Vm): boolean => vm.billing.status === 'CANCELLED'

/** Null when it is allowed. */
export function whyNot(vm: Vm, verb: string): string | null {
  if (vm.allowedActions.includes(verb)) return null
  if (vm.currentAction) return w.why.busy(vmsWords.actionNames[vm.currentAction.action] ?? vm.currentAction.action)
  if (vm.isProtected && ['delete', 'rebuild', 'restore'].includes(verb)) return w.why.protected
  if (neverCameUp(vm)) return w.why.never
  return w.why.state(vmsWords.statuses[vm.status])
}

interface Props extends ButtonProps {
  vm: Vm
  verb: string
  onClick: () => void
  children: ReactNode
}

export function Verb({ vm, verb, onClick, children, ...props }: Props) {
  const reason = whyNot(vm, verb)
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
