// What an entry of the audit log says: `createVm` → `Created VM`.
import { ROUTES } from '@berth/sdk'

const VERBS: Record<string, string> = {
  add: 'Added',
  accept: 'Accepted',
  adjust: 'Adjusted',
  adopt: 'Adopted',
  announce: 'Announced',
  attach: 'Attached',
  begin: 'Began',
  bind: 'Attached',
  buy: 'Bought',
  cancel: 'Cancelled',
  change: 'Changed',
  close: 'Closed',
  confirm: 'Confirmed',
  create: 'Created',
  credit: 'Credited',
  delete: 'Deleted',
  detach: 'Detached',
  end: 'Ended',
  leave: 'Left',
  make: 'Created',
  open: 'Opened',
  rebuild: 'Rebuilt',
  redeliver: 'Resent',
  register: 'Registered',
  remove: 'Removed',
  rename: 'Renamed',
  renew: 'Renewed',
  replace: 'Replaced',
  reply: 'Replied',
  restart: 'Rebooted',
  rescue: 'Rescued',
  resize: 'Resized',
  restore: 'Restored',
  retry: 'Retried',
  revoke: 'Revoked',
  rotate: 'Rolled',
  shelve: 'Shelved',
  sign: 'Signed',
  start: 'Started',
  stop: 'Stopped',
  suspend: 'Suspended',
  test: 'Tested',
  unbind: 'Detached',
  unmanage: 'Unmanaged',
  unrescue: 'Ended rescue of',
  unshelve: 'Unshelved',
  unsuspend: 'Unsuspended',
  update: 'Changed',
  upgrade: 'Upgraded',
}

const NOUNS: Record<string, string> = {
  api: 'API',
  bandwidth: 'traffic',
  iso: 'ISO image',
  ssh: 'SSH',
  token: 'API key',
  totp: 'two-factor authentication',
  vm: 'VM',
}

/** The words of an operator's command, such as `account credit`, stay in their order. */
export function actionName(action: string): string {
  const [verb = '', ...rest] = action
    .replace(/^operator(?=[A-Z])/, '')
    .replace(/[A-Z]/g, ' $&')
    .toLowerCase()
    .trim()
    .split(/\s+/)
  const words = [VERBS[verb] ?? NOUNS[verb] ?? verb, ...rest.map((word) => NOUNS[word] ?? word)].join(' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Writes of the dashboard that the log of an account records beside those of the public API. */
const DASHBOARD_ACTIONS = [
  'signIn',
  'signOut',
  'acceptInvitation',
  'registerByInvitation',
  'leaveAccount',
  'changePassword',
  'changeUser',
  'endSession',
  'endOtherSessions',
  'confirmTotp',
  'removeTotp',
  'renewRecoveryCodes',
]

/** For the filter, by name. */
export const ACTION_CHOICES = [
  ...Object.entries(ROUTES)
    .filter(([id, { method }]) => method !== 'GET' && !/^check[A-Z]/.test(id))
    .map(([id]) => id),
  ...DASHBOARD_ACTIONS,
]
  .map((value) => ({ value, label: actionName(value) }))
  .toSorted((one, other) => one.label.localeCompare(other.label))
