// The unfinished form survives leaving the screen, reloading it and an expired session. It stays in this tab. The password is kept nowhere, and user
// data, which may hold secrets, in memory only: it survives everything but a reload.
import { draftKey } from '../../api/drafts.ts'
import type { Session } from '../../api/session.ts'
import type { VmForm } from './vm-form.ts'

const keyOf = (session: Session): string => draftKey(session, 'new-vm')

let inMemory: { key: string; userData: string } | null = null

export function saveDraft(session: Session, { password: _, userData, ...form }: VmForm): void {
  inMemory = { key: keyOf(session), userData }
  sessionStorage.setItem(keyOf(session), JSON.stringify(form))
}

export function dropDraft(session: Session): void {
  inMemory = null
  sessionStorage.removeItem(keyOf(session))
}

export function readDraft(session: Session): Partial<VmForm> {
  const userData = inMemory?.key === keyOf(session) ? { userData: inMemory.userData } : {}
  try {
    return { ...(JSON.parse(sessionStorage.getItem(keyOf(session)) ?? '{}') as Partial<VmForm>), ...userData }
  } catch {
    return userData
  }
}
