// Every word of the dashboard, in the language of the user. A language is one file of the build, and only the chosen one is loaded: whatever
// imports this waits for it.
import type * as en from './en/index.ts'
import { language } from './language.ts'
import type { Translated } from './translated.ts'

const words: Translated<typeof en> = language === 'de' ? await import('./de/index.ts') : await import('./en/index.ts')

export const {
  actionTitles,
  addressMessages,
  alertMessages,
  auditMessages,
  backupTypes,
  bandwidthMessages,
  budgetMessages,
  commonMessages,
  createVmMessages,
  eventMessages,
  eventSentences,
  firewallMessages,
  healthCounts,
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
  statusNames,
  stepNames,
  ticketMessages,
  unitMessages,
  vmMessages,
  vmsMessages,
  volumeMessages,
  walletMessages,
  webhookMessages,
} = words
