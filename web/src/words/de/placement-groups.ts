import type { placementGroupMessages as en } from '../en/placement-groups.ts'
import type { Translated } from '../translated.ts'

export const placementGroupMessages: Translated<typeof en> = {
  title: 'Platzierungsgruppen',
  about: 'Wo VMs zueinander platziert werden. Wählen Sie eine Gruppe beim Erstellen einer VM oder in ihren Einstellungen.',
  create: 'Platzierungsgruppe erstellen',
  created: (name) => `Platzierungsgruppe ${name} erstellt`,
  policy: 'Regel',
  policies: { SPREAD: 'Verteilt', STRICT_SPREAD: 'Streng verteilt', TOGETHER: 'Zusammen' },
  policyAbout: {
    SPREAD: 'Soweit Platz ist auf verschiedenen Hosts, damit ein Ausfall wenige von ihnen trifft.',
    STRICT_SPREAD: 'Nie zwei auf einem Host. Eine VM wird abgelehnt, wenn kein anderer Host Platz hat.',
    TOGETHER: 'Soweit Platz ist auf demselben Host, für den kürzesten Weg zwischen ihnen.',
  },
  vms: 'VMs',
  hosts: 'Hosts',
  emptyTitle: 'Noch keine Platzierungsgruppen',
  emptyAbout: 'Erstellen Sie eine, um die VMs eines Clusters auf verschiedenen Hosts oder nah beieinander zu halten.',
  rename: (name) => `${name} umbenennen`,
  delete: 'Platzierungsgruppe löschen',
  deleteTitle: 'Platzierungsgruppe löschen?',
  deleteAbout: (name) => `„${name}“ kann gelöscht werden, wenn keine VM darin ist.`,
  deleted: (name) => `Platzierungsgruppe ${name} gelöscht`,
}
