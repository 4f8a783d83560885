// The result of a check.
export interface Finding {
  status: 'ok' | 'warning' | 'failure'
  message: string
  fix: string | null
}

export const ok = (message: string): Finding => ({ status: 'ok', message, fix: null })
export const warning = (message: string, fix: string): Finding => ({ status: 'warning', message, fix })
export const failure = (message: string, fix: string): Finding => ({ status: 'failure', message, fix })
