import type { reverseNameMessages as en } from '../en/reverse-names.ts'
import type { Translated } from '../translated.ts'

export const reverseNameMessages: Translated<typeof en> = {
  title: 'Reverse DNS',
  about: 'Wie diese Adressen laut Nameserver heißen (PTR). Mailserver erwarten den Namen, der auf die Adresse zeigt.',
  none: 'Kein Name',
  set: 'Reverse-DNS-Namen festlegen',
  setOf: (address) => `Reverse-DNS-Namen festlegen: ${address}`,
  name: 'Hostname',
  nameHint: 'Zum Beispiel mail.example.com; leer: keiner',
  states: { PENDING: 'Ausstehend', SET: 'Gesetzt', FAILED: 'Nicht gesetzt' },
}
