// What somebody has begun and not sent yet, in this tab: of each user and account apart, and until they sign out.
import type { Session } from './session.ts'

const PREFIX = 'berth:draft:'

export const draftKey = ({ user, account }: Session, what: string): string => `${PREFIX}${user.id}:${account?.id}:${what}`

export function dropDrafts(): void {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX)) sessionStorage.removeItem(key)
}
