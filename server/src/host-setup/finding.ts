// The result of a check.
export interface Finding {
  status: 'ok' | 'warning' | 'failure'
  says: string
  fix: string | null
}

export const ok = (says: string): Finding => ({ status: 'ok', says, fix: null })
export const warning = (says: string, fix: string): Finding => ({ status: 'warning', says, fix })
export const failure = (says: string, fix: string): Finding => ({ status: 'failure', says, fix })
