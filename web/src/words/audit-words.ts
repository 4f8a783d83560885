// The words of the audit log: many, and only its screen needs them.
import { language } from './language.ts'

const words = language === 'de' ? await import('./de/audit-actions.ts') : await import('./en/audit-actions.ts')

export const auditActions: Record<string, readonly [title: string, done: string]> = words.auditActions
export const auditFrames: { succeeded: string; refused: string } = words.auditFrames
