import type { operatorAccountMessages as enAccounts, visitMessages as enVisits } from '../en/operator-accounts.ts'
import type { Translated } from '../translated.ts'

export const visitMessages: Translated<typeof enVisits> = {
  open: 'Als dieser Kunde anmelden',
  title: (email) => `Als ${email} anmelden`,
  about:
    'Sie sehen das Dashboard wie dieser Kunde, eine Stunde lang und ohne etwas zu ändern. Im Auditprotokoll des Kunden steht, dass sich ein Betreiber angemeldet hat, in Ihrem, wer und wann.',
  reason: 'Grund',
  reasonHint: 'Zum Beispiel die Nummer des Tickets',
  submit: 'Als Kunde anmelden',
  banner: (email) => `Sie sind im Konto von ${email}`,
  reads: 'Nur Lesen',
  writes: 'Änderungen erlaubt',
  until: 'Bis',
  allow: 'Änderungen erlauben',
  allowTitle: 'Änderungen in diesem Konto erlauben?',
  allowAbout:
    'Was Sie ändern, geschieht dem Kunden, und beide Auditprotokolle halten es fest. Mitglieder, API-Schlüssel, Sicherheitseinstellungen, Geld, Tickets und Konsolen bleiben verschlossen.',
  allowed: 'Änderungen sind bis zum Ende des Besuchs erlaubt',
  leave: 'Zurück zu meinem Konto',
  left: 'Sie haben das Konto verlassen',
}

export const operatorAccountMessages: Translated<typeof enAccounts> = {
  overview: 'Übersicht',
  money: 'Geld',
  tickets: 'Tickets',
  audit: 'Auditprotokoll',
  transactions: 'Buchungen',
  noTransactions: 'Es wurde noch nichts berechnet oder gutgeschrieben.',
  refund: 'Erstatten',
  refundTitle: (amount) => `${amount} erstatten?`,
  refundAbout: (what) => `Der Betrag wird dem Guthaben gutgeschrieben: ${what}`,
  refundReason: (what) => `Erstattung: ${what}`,
  refunded: (balance) => `Erstattet, das Guthaben beträgt ${balance}`,
  noTickets: 'Dieser Kunde hat keine Tickets geschrieben.',
  noAudit: 'In diesem Konto wurde noch nichts geändert.',
  visits: 'Besuche von Betreibern',
  noVisits: 'Kein Betreiber hat sich als dieser Kunde angemeldet.',
  ip: 'IP-Adresse',
  by: 'Betreiber',
  reason: 'Grund',
  changes: 'Änderungen',
  readOnly: 'Keine erlaubt',
  started: 'Beginn',
  ended: 'Ende',
  underWay: 'Läuft',
}
