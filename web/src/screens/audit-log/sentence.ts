// An entry of the audit log as a sentence: `anna@example.com changed VM web-1`.
import { ROUTES, type AuditEntry } from '@berth/sdk'
import { auditActions, auditFrames } from '../../words/audit-words.ts'
import { auditMessages as w } from '../../words/words.ts'

type Action = Pick<AuditEntry, 'action' | 'resourceIds' | 'route' | 'result'>

/** Texts, and the places of what is shown as a link. */
type Part = { text: string } | { slot: 'who' | 'what' }

const WITH_CODE = 'WithRecoveryCode'

/** Such as `signInByProviderWithRecoveryCode:staff`. */
function parse(action: string): { words: readonly [title: string, done: string]; more: string } {
  const [name = '', provider] = action.split(':')
  const hasCode = name.endsWith(WITH_CODE)
  const words = auditActions[hasCode ? name.slice(0, -WITH_CODE.length) : name] ?? [action, action]
  const more = [provider, hasCode && w.withRecoveryCode].filter(Boolean).join(', ')
  return { words, more: more && ` (${more})` }
}

/** For the filter and for headings. An action that this dashboard does not know is shown by its name. */
export function actionTitle(action: string): string {
  const { words, more } = parse(action)
  return `${words[0]}${more}`
}

export function sentenceOf({ action, result, resourceIds }: Action): Part[] {
  const { words, more } = parse(action)
  const done = `${words[1]}${more}`
  const hasWhat = resourceIds.length > 0
  const text =
    result === 'succeeded'
      ? auditFrames.succeeded.replace('{done}', done)
      : auditFrames.refused.replace('{title}', `${words[0]}${more}`).replace('{what}', /\{what\}/.test(words[1]) ? '{what}' : '')
  return (hasWhat ? text : text.replace(/ ?\{what\}/, ''))
    .trim()
    .split(/(\{who\}|\{what\})/)
    .filter((part) => part !== '')
    .map((part) => (part === '{who}' ? { slot: 'who' } : part === '{what}' ? { slot: 'what' } : { text: part }))
}

/** Which of the ids the sentence is about: the parent comes first, except where a copy of its own is changed. */
export const subjectOf = ({ route, resourceIds }: Pick<Action, 'route' | 'resourceIds'>): string | undefined =>
  resourceIds[/\/(snapshots|backups)\/\{id\}/.test(route ?? '') ? 1 : 0]

/** Names that entries tell of what may be gone since. */
export const namesIn = (entries: readonly AuditEntry[]): Map<string, string> =>
  new Map(entries.flatMap(({ resourceId, resourceName }) => (resourceId && resourceName ? [[resourceId, resourceName] as const] : [])))

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

/** What operators do to an account, by their commands. */
const OPERATOR_ACTIONS = Object.keys(auditActions).filter((action) => action.includes(' '))

const choicesOf = (actions: string[]): { value: string; label: string }[] =>
  actions.map((value) => ({ value, label: actionTitle(value) })).toSorted((one, other) => one.label.localeCompare(other.label))

/** For the filter, by name. */
export const ACTION_CHOICES = [
  {
    group: w.byMembers,
    items: choicesOf([
      ...Object.entries(ROUTES)
        .filter(([id, { method }]) => method !== 'GET' && !/^check[A-Z]/.test(id))
        .map(([id]) => id),
      ...DASHBOARD_ACTIONS,
    ]),
  },
  { group: w.byOperators, items: choicesOf(OPERATOR_ACTIONS) },
]
