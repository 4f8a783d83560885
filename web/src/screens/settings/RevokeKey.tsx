import { ask } from '../../api/request.ts'
import { useWrite } from '../../api/client.ts'
import type { ApiKey } from '../../api/keys.ts'
import { Confirm } from '../../ui/Dialogs.tsx'
import { commonWords } from '../../messages/common.ts'
import { settingsWords } from '../../messages/settings.ts'

const w = settingsWords.keys

export function EndKey({ apiKey, how, onClose }: { apiKey: ApiKey; how: 'revoke' | 'delete'; onClose: () => void }) {
  const path = `/api-keys/${apiKey.id}`
  const write = useWrite<void, unknown>(() => (how === 'revoke' ? ask('PATCH', path, { isActive: false }) : ask('DELETE', path)), {
    inForm: true,
    changes: ['api-keys'],
    says: how === 'revoke' ? w.revokedNow : w.deleted,
  })
  return (
    <Confirm
      title={how === 'revoke' ? w.revokeTitle : w.deleteTitle}
      submit={how === 'revoke' ? w.revoke : commonWords.delete}
      write={write}
      onClose={onClose}
    >
      {how === 'revoke' ? w.revokeAbout(apiKey.name) : w.deleteAbout(apiKey.name)}
    </Confirm>
  )
}
