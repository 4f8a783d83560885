import type { Network } from '@berth/sdk'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { ConfirmDialog } from '../../ui/Dialogs.tsx'
import { networkMessages as w } from '../../words/words.ts'

interface Props {
  network: Network
  onClose: () => void
  onDeleted?: () => unknown
}

export function DeleteNetwork({ network, onClose, onDeleted = () => {} }: Props) {
  const write = useWrite(() => berth.networks.delete(network.id), {
    inForm: true,
    invalidates: ['networks', 'limits'],
    successMessage: w.deleted(network.name),
    onDone: onDeleted,
  })
  return (
    <ConfirmDialog title={w.deleteTitle} submit={w.delete} write={write} onClose={onClose} disabled={network.attachmentCount > 0}>
      {network.attachmentCount > 0 ? w.deleteAttached(network.name, network.attachmentCount) : w.deleteAbout(network.name)}
    </ConfirmDialog>
  )
}
