import type { auditMessages as en } from '../en/audit.ts'
import type { Translated } from '../translated.ts'

export const auditMessages: Translated<typeof en> = {
  title: 'Audit-Log',
  about: 'Jede Änderung und jede abgelehnte Anfrage in diesem Konto. Einträge werden ein Jahr aufbewahrt und lassen sich nicht ändern.',
  emptyTitle: 'Noch keine Einträge',
  emptyAbout: 'Jede Änderung wird hier festgehalten, mit Urheber und IP-Adresse.',
  emptyFiltered: 'Keine Einträge passen zu diesen Filtern.',
  action: 'Aktion',
  anyAction: 'Alle Aktionen',
  noAction: 'Keine solche Aktion',
  actor: 'Urheber',
  from: 'IP-Adresse',
  result: 'Ergebnis',
  when: 'Zeit',
  succeeded: 'Erfolgreich',
  refused: (code, count) => `Abgelehnt${code ? `: ${code}` : ''}${count > 1 ? ` (${count}-mal)` : ''}`,
  dateFrom: 'Von (Datum)',
  dateTo: 'Bis (Datum)',
  actors: { token: 'API-Schlüssel', operator: 'Betreiber', system: 'System', person: 'Benutzer', user: 'Benutzer' },
}
