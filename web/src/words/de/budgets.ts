import type { budgetMessages as en } from '../en/budgets.ts'
import type { Translated } from '../translated.ts'

export const budgetMessages: Translated<typeof en> = {
  budget: 'Budget',
  own: 'Ihr Budget',
  ofProject: 'Budget des Projekts',
  change: 'Budget ändern',
  title: (name) => `Budget von ${name}`,
  changed: 'Budget geändert',
  monthlyAmount: 'Monatliches Budget',
  monthlyAmountHint:
    'Was in einem Kalendermonat (UTC) berechnet werden darf. Verlängerungen zählen und werden nie verhindert. Leer: kein Limit.',
  maxVms: 'VMs gleichzeitig',
  maxVmsHint: 'Jede zählt, bis sie gelöscht ist. Leer: kein Limit.',
  labelSelector: 'Nur für Labels',
  labelSelectorHint: 'Gilt nur für Ressourcen mit solchen Labels, zum Beispiel env=ci. Leer: für alles.',
  none: 'Kein Limit',
  used: (used, of) => `${used} von ${of} verbraucht`,
  remaining: (left) => `Noch ${left} in diesem Monat`,
  left: (left) => `Noch ${left}`,
  month: (left) => `${left} pro Monat`,
  vms: (vms, of) => `${vms} von ${of} VMs`,
  upTo: (vms) => (vms === 1 ? '1 VM' : `${vms} VMs`),
  forLabels: (labels) => `für ${labels}`,
}
