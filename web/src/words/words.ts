// Every word of the dashboard, in the language of the user. A language is one file of the build, and only the chosen one is loaded: whatever
// imports this waits for it.
import type * as en from './en/index.ts'

/** The same keys, functions of the same arguments, and other text. */
type Translated<T> = T extends string
  ? string
  : T extends (...args: infer Args) => infer Result
    ? (...args: Args) => Translated<Result>
    : T extends object
      ? { readonly [Key in keyof T]: Translated<T[Key]> }
      : T

const words: Translated<typeof en> = await import('./en/index.ts')

export const {
  addressMessages,
  alertMessages,
  auditMessages,
  bandwidthMessages,
  budgetMessages,
  commonMessages,
  createVmMessages,
  eventMessages,
  eventSentences,
  firewallMessages,
  homeMessages,
  imageMessages,
  labelMessages,
  limitName,
  memberMessages,
  networkMessages,
  operatorMessages,
  placementGroupMessages,
  projectMessages,
  reverseNameMessages,
  settingsMessages,
  shellMessages,
  signInMessages,
  sshKeyMessages,
  stepNames,
  ticketMessages,
  vmMessages,
  vmsMessages,
  volumeMessages,
  walletMessages,
  webhookMessages,
} = words
