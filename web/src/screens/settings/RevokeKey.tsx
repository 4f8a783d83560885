import type { Token } from '@berth/sdk'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { ConfirmDialog } from '../../ui/Dialogs.tsx'
import { settingsMessages } from '../../words/words.ts'

const w = settingsMessages.keys

export function RevokeKey({ apiKey, how, onClose }: { apiKey: Token; how: 'revoke' | 'delete'; onClose: () => void }) {
  const write = useWrite<void, unknown>(
    () => (how === 'revoke' ? berth.tokens.update(apiKey.id, { isActive: false }) : berth.tokens.revoke(apiKey.id)),
    {
      inForm: true,
      invalidates: ['api-keys'],
      successMessage: how === 'revoke' ? w.revokedNow : w.deleted,
    },
  )
  return (
    <ConfirmDialog
      title={how === 'revoke' ? w.revokeTitle : w.deleteTitle}
      submit={how === 'revoke' ? w.revoke : w.delete}
      write={write}
      onClose={onClose}
    >
      {how === 'revoke' ? w.revokeAbout(apiKey.name) : w.deleteAbout(apiKey.name)}
    </ConfirmDialog>
  )
}
