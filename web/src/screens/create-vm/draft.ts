// The unfinished form survives leaving the screen and reloading it. It stays in this tab, and the password and user data, which may hold secrets, are not kept.
import type { VmForm } from './vm-form.ts'

/** Another user of the same tab does not see it. */
const keyOf = (userId: string): string => `berth:new-vm:${userId}`

export function saveDraft(userId: string, { password: _, userData: _userData, ...form }: VmForm): void {
  sessionStorage.setItem(keyOf(userId), JSON.stringify(form))
}

export const dropDraft = (userId: string): void => sessionStorage.removeItem(keyOf(userId))

export function readDraft(userId: string): Partial<VmForm> {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(userId)) ?? '{}') as Partial<VmForm>
  } catch {
    return {}
  }
}
