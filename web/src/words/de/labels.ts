import type { labelMessages as en } from '../en/labels.ts'
import type { Translated } from '../translated.ts'

export const labelMessages: Translated<typeof en> = {
  labels: 'Labels',
  edit: 'Labels bearbeiten',
  of: (name) => `Labels von ${name}`,
  about: 'Schlüssel mit Werten, zum Beispiel env=prod. Sie wählen Ressourcen aus: in Listen, für Webhooks und für Aktionen mit vielen VMs.',
  hint: 'env=prod',
  filter: 'Nach Labels filtern',
  filterHint: 'env=prod,!old',
  filterAbout: 'env=prod, env!=prod, env in (prod,test), env oder !env, durch Kommas getrennt',
  filterBy: (label) => `Die mit ${label} anzeigen`,
  noneTitle: 'Nichts mit diesen Labels',
  noneAbout: 'Wählen Sie andere Labels, oder zeigen Sie alle an.',
}
