import type { Query } from '@berth/sdk'
import { vmsMessages as w } from '../../words/words.ts'

/** Shelved is no status: such a VM is STOPPED, or SUSPENDED. */
export const STATUS_CHOICES = { ...w.statuses, SHELVED: w.shelved }
type Choice = keyof typeof STATUS_CHOICES

/** Of the text in the URL. */
export const findChoice = (text: string | undefined): Choice | undefined =>
  text !== undefined && Object.hasOwn(STATUS_CHOICES, text) ? (text as Choice) : undefined

export const filterBy = (choice: Choice | undefined): Pick<Query<'listVms'>, 'status' | 'shelved'> => {
  if (choice === undefined) return {}
  if (choice === 'SHELVED') return { shelved: true }
  return choice === 'STOPPED' ? { status: choice, shelved: false } : { status: choice }
}
