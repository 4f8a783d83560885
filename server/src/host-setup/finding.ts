// What was looked at, how it is, and what to do about it.
export interface Finding {
  status: 'ok' | 'warning' | 'failure'
  says: string
  /** What to do about it. */
  fix: string | null
}

export const ok = (says: string): Finding => ({ status: 'ok', says, fix: null })
export const warning = (says: string, fix: string): Finding => ({ status: 'warning', says, fix })
export const failure = (says: string, fix: string): Finding => ({ status: 'failure', says, fix })
