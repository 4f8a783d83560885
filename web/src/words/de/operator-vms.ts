import type { operatorVmMessages as en } from '../en/operator-vms.ts'
import type { Translated } from '../translated.ts'

export const operatorVmMessages: Translated<typeof en> = {
  title: 'Alle VMs',
  about: 'Aller Konten. Finden Sie eine VM über ihren Namen, ihre ID oder irgendeine Adresse, die sie jetzt hat.',
  empty: 'Keine VMs',
  emptyAbout: 'Noch hat kein Kunde eine VM.',
  emptyFound: 'Keine VM hat das jetzt. Wenn Sie eine Adresse suchen, sehen Sie nach, wer sie früher hatte.',
  search: 'Name, ID oder Adresse',
  host: 'Host',
  anyHost: 'Alle Hosts',
  status: 'Status',
  account: 'Konto',
  created: 'Erstellt',
  addressHistory: 'Adressverlauf',
  history: {
    title: 'Adressverlauf',
    about:
      'Welche VM eine öffentliche Adresse zu einer Zeit hatte, auch wenn es VM und Konto nicht mehr gibt. Für Meldungen über Missbrauch.',
    address: 'Öffentliche Adresse',
    addressHint: 'IPv4 oder IPv6',
    day: 'Tag',
    time: 'Uhrzeit',
    zone: (zone) => `Zeitzone: ${zone}. Ohne Tag wird alles gezeigt, was bekannt ist.`,
    show: 'VM finden',
    vm: 'VM',
    deleted: 'Gelöscht',
    floating: 'Floating-Adresse',
    since: 'Von',
    until: 'Bis',
    now: 'Hat sie noch',
    promptTitle: 'Wessen Adresse war es?',
    prompt: 'Geben Sie die Adresse und den Zeitpunkt aus der Meldung ein.',
    empty: 'Niemand hatte diese Adresse zu dieser Zeit',
    emptyAbout: 'Keine VM hatte sie damals, oder es ist länger her, als Adressen aufgezeichnet werden.',
    notAnAddress: 'Geben Sie eine IPv4- oder IPv6-Adresse ein, zum Beispiel 203.0.113.7',
  },
}
