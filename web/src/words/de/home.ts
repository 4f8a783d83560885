import type { homeMessages as en } from '../en/home.ts'
import type { Translated } from '../translated.ts'

export const homeMessages: Translated<typeof en> = {
  title: 'Start',
  hello: (name) => (name ? `Hallo, ${name}` : 'Hallo'),
  vms: 'Virtuelle Maschinen',
  vmsAbout: (running, total) => (total === 0 ? 'Noch keine' : `${running} von ${total} in Betrieb`),
  inProgress: 'In Arbeit',
  noActions: 'Keine laufenden Aktionen.',
  wallet: 'Guthaben',
  coversDays: (days) => (days === 1 ? 'Reicht für 1 Tag' : `Reicht für ${days} Tage`),
  noRenewals: 'Keine anstehenden Verlängerungen',
  traffic: 'Traffic',
  trafficAbout: (throttled) =>
    throttled === 0 ? 'Keine VM gedrosselt' : throttled === 1 ? '1 VM gedrosselt' : `${throttled} VMs gedrosselt`,
  recent: 'Letzte Ereignisse',
  noEvents: 'Noch keine Ereignisse.',
  all: 'Alle Ereignisse anzeigen',
  warnings: {
    lowBalance: (amount) =>
      `Ihr Guthaben deckt die ${amount} nicht, die in den nächsten 7 Tagen fällig werden. Laden Sie Guthaben auf, damit Ihre VMs weiterlaufen.`,
    addFunds: 'Guthaben aufladen',
    throttled: (name) => `${name} hat das Traffic-Limit erreicht und wird gedrosselt. Kaufen Sie Traffic für die volle Geschwindigkeit.`,
    buy: 'Traffic kaufen',
    error: (name) => `${name} ist in einem Fehlerzustand.`,
    moreErrors: (vms) => (vms === 1 ? '1 weitere VM ist in einem Fehlerzustand.' : `${vms} weitere VMs sind in einem Fehlerzustand.`),
    maintenance: (from, to, text) => `Wartung von ${from} bis ${to}: ${text}`,
    concerns: 'Betrifft',
    more: (vms) => `${vms} weitere`,
    view: 'Ansehen',
  },
  next: {
    title: 'Nächster Schritt',
    sshKeyButton: 'SSH-Schlüssel hinzufügen',
    sshKey: 'Einen SSH-Schlüssel hinzufügen',
    sshKeyAbout: 'Melden Sie sich ohne Passwort an Ihren VMs an.',
    wallet: 'Guthaben aufladen',
    done: '(erledigt)',
    vmButton: 'VM erstellen',
    vm: 'Ihre erste VM erstellen',
    vmAbout: 'Der Preis wird angezeigt, bevor etwas berechnet wird.',
    totpButton: 'Aktivieren',
    totp: 'Zwei-Faktor-Authentifizierung aktivieren',
    totpAbout: 'Die Zwei-Faktor-Authentifizierung ist aus. Schützen Sie Ihr Konto mit einer Authenticator-App.',
    progress: (done, total) => `${done} von ${total} erledigt`,
  },
}
