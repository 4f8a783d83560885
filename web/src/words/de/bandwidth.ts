import type { bandwidthMessages as en } from '../en/bandwidth.ts'
import type { Translated } from '../translated.ts'

export const bandwidthMessages: Translated<typeof en> = {
  title: 'Traffic',
  about: 'Ein- und ausgehender Traffic jeder VM in ihrem Abrechnungszeitraum. Bei 100 % wird eine VM gedrosselt, nie getrennt.',
  emptyTitle: 'Noch kein Traffic',
  emptyAbout: 'Der Traffic laufender VMs wird jede Minute gemessen und hier angezeigt.',
  vm: 'VM',
  used: 'Verbrauch',
  usedOf: (name) => `Traffic von ${name}`,
  of: (used, cap) => (cap === null ? `${used}, unbegrenzt` : `${used} von ${cap}`),
  packs: 'Traffic-Pakete',
  state: 'Geschwindigkeit',
  full: 'Volle Geschwindigkeit',
  throttled: 'Gedrosselt',
  resets: 'Neu ab',
  buy: 'Traffic kaufen',
  buyFor: (name) => `Traffic für ${name} kaufen`,
  gigabytes: 'Menge (GB)',
  gigabytesHint: 'Gültig bis zur nächsten Verlängerung der VM.',
  charged: (amount, after) => `Heute fällig: ${amount}. Guthaben danach: ${after}.`,
  packAdded: 'Traffic-Paket hinzugefügt',
}
