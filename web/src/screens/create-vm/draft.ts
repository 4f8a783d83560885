// The unfinished form survives leaving the screen, reloading it and an expired session. It stays in this tab. The password is kept nowhere, and user
// data, which may hold secrets, in memory only: it survives everything but a reload.
import type { VmForm } from './vm-form.ts'

/** Another user of the same tab does not see it. */
const keyOf = (userId: string): string => `berth:new-vm:${userId}`

let inMemory: { userId: string; userData: string } | null = null

export function saveDraft(userId: string, { password: _, userData, ...form }: VmForm): void {
  inMemory = { userId, userData }
  sessionStorage.setItem(keyOf(userId), JSON.stringify(form))
}

export function dropDraft(userId: string): void {
  inMemory = null
  sessionStorage.removeItem(keyOf(userId))
}

export function readDraft(userId: string): Partial<VmForm> {
  const userData = inMemory?.userId === userId ? { userData: inMemory.userData } : {}
  try {
    return { ...(JSON.parse(sessionStorage.getItem(keyOf(userId)) ?? '{}') as Partial<VmForm>), ...userData }
  } catch {
    return userData
  }
}
