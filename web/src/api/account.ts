// The account that this tab works in. Every request names it, so that two tabs can work in two accounts. It is fixed while the page is loaded:
// switching loads the page again, and nothing of the other account remains in memory.
const KEY = 'berth:account'

/** A new tab begins with the account that was chosen last. */
let chosen = sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY)

export const accountHeaders = (): Record<string, string> => (chosen === null ? {} : { 'x-account-id': chosen })

export function chooseAccount(id: string): void {
  chosen = id
  sessionStorage.setItem(KEY, id)
  localStorage.setItem(KEY, id)
}

/** Of a customer, in this tab alone: a new one begins with the own account. */
export function visitAccount(id: string): void {
  chosen = id
  sessionStorage.setItem(KEY, id)
  location.assign('/')
}

export function switchAccount(id: string): void {
  chooseAccount(id)
  location.assign('/')
}
