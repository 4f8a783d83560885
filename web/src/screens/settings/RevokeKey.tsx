import { apiRequest } from '../../api/request.ts'
import { useWrite } from '../../api/client.ts'
import type { ApiKey } from '../../api/keys.ts'
import { ConfirmDialog } from '../../ui/Dialogs.tsx'
import { settingsMessages } from '../../messages/settings.ts'

const w = settingsMessages.keys

export function RevokeKey({ apiKey, how, onClose }: { apiKey: ApiKey; how: 'revoke' | 'delete'; onClose: () => void }) {
  const path = `/api-keys/${apiKey.id}`
  const write = useWrite<void, unknown>(
    () => (how === 'revoke' ? apiRequest('PATCH', path, { isActive: false }) : apiRequest('DELETE', path)),
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
