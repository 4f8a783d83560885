import type { alertMessages as en } from '../en/alerts.ts'
import type { Translated } from '../translated.ts'

export const alertMessages: Translated<typeof en> = {
  title: 'Alarme',
  about:
    'Sie erfahren per E-Mail, Ereignis und Webhook, wenn VMs oder Ihr Guthaben einen Schwellenwert überschreiten, und wenn das vorbei ist.',
  create: 'Alarm erstellen',
  edit: 'Alarm bearbeiten',
  editing: (name) => `${name} bearbeiten`,
  created: (name) => `Alarm ${name} erstellt`,
  metric: 'Messgröße',
  metrics: {
    cpuPercent: 'CPU in Prozent',
    ramPercent: 'Arbeitsspeicher in Prozent',
    diskReadBytesPerSecond: 'Vom Datenträger gelesen, Byte pro Sekunde',
    diskWriteBytesPerSecond: 'Auf den Datenträger geschrieben, Byte pro Sekunde',
    networkInBytesPerSecond: 'Empfangen, Byte pro Sekunde',
    networkOutBytesPerSecond: 'Gesendet, Byte pro Sekunde',
    trafficPercent: 'Verbrauchter Traffic dieses Monats in Prozent',
    balanceDays: 'Tage, für die das Guthaben reicht',
  },
  comparison: 'Löst aus, wenn der Wert',
  comparisons: { ABOVE: 'darüber liegt', BELOW: 'darunter liegt' },
  threshold: 'Schwellenwert',
  forMinutes: 'Für wie viele Minuten',
  selector: 'Nur VMs mit diesen Labels',
  selectorAbout: 'Leer: alle VMs. Beispiel: env=prod,!old.',
  when: 'Wann',
  condition: (metric, comparison, threshold, minutes) =>
    `${metric}: Schwellenwert ${threshold}, wenn der Wert ${minutes === null ? '' : `${minutes} min lang `}${comparison}`,
  vms: 'VMs',
  vmCount: (count) => (count === 1 ? '1 VM' : `${count} VMs`),
  account: 'Konto',
  now: 'Jetzt',
  quiet: 'Ruhig',
  firing: (names) => `Ausgelöst für ${names.join(', ')}`,
  emptyTitle: 'Noch keine Alarme',
  emptyAbout: 'Erstellen Sie einen, um von hoher CPU-Last, verbrauchtem Traffic oder zur Neige gehendem Guthaben zu erfahren.',
  delete: 'Alarm löschen',
  deleteTitle: 'Alarm löschen?',
  deleteAbout: (name) => `„${name}“ wird gelöscht; was er gerade meldet, wird als beendet gemeldet.`,
  deleted: (name) => `Alarm ${name} gelöscht`,
}
