import type { projectMessages as en } from '../en/projects.ts'
import type { Translated } from '../translated.ts'

export const projectMessages: Translated<typeof en> = {
  title: 'Projekte',
  about:
    'Ressourcen mit eigenen Mitgliedern und API-Schlüsseln. Dieses Konto zahlt dafür, und seine Limits gelten für alle Projekte zusammen.',
  create: 'Projekt erstellen',
  created: (name) => `Projekt ${name} erstellt`,
  switchTo: 'Im Projekt arbeiten',
  vms: 'VMs',
  emptyTitle: 'Noch keine Projekte',
  emptyAbout: 'Erstellen Sie eines, damit andere an einigen Ihrer VMs arbeiten können, und an nichts anderem.',
  rename: (name) => `${name} umbenennen`,
  delete: 'Projekt löschen',
  deleteTitle: 'Projekt löschen?',
  deleteAbout: (name) =>
    `„${name}“ kann gelöscht werden, wenn nichts darin ist. Seine Mitglieder, API-Schlüssel, Webhooks und Alarme werden mitgelöscht, seine Tickets geschlossen.`,
  deleted: (name) => `Projekt ${name} gelöscht`,
}
