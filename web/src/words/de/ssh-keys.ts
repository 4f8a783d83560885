import type { sshKeyMessages as en } from '../en/ssh-keys.ts'
import type { Translated } from '../translated.ts'

export const sshKeyMessages: Translated<typeof en> = {
  title: 'SSH-Schlüssel',
  about: 'Öffentliche Schlüssel, die auf neuen VMs installiert werden. Wird ein Schlüssel hier gelöscht, bleibt er auf bestehenden VMs.',
  add: 'SSH-Schlüssel hinzufügen',
  name: 'Name',
  nameHint: 'Zum Beispiel das Gerät, zu dem der Schlüssel gehört: „Laptop“.',
  publicKey: 'Öffentlicher Schlüssel',
  publicKeyHint: 'Der Inhalt einer Datei wie ~/.ssh/id_ed25519.pub. Fügen Sie niemals einen privaten Schlüssel ein.',
  added: (name) => `SSH-Schlüssel ${name} hinzugefügt`,
  emptyTitle: 'Noch keine SSH-Schlüssel',
  emptyAbout: 'Fügen Sie Ihren öffentlichen Schlüssel hinzu, um sich ohne Passwort an Ihren VMs anzumelden.',
  fingerprint: 'Fingerabdruck',
  type: 'Typ',
  vms: 'Installiert auf',
  vmCount: (count) => (count === 1 ? '1 VM' : `${count} VMs`),
  rename: (name) => `${name} umbenennen`,
  delete: 'SSH-Schlüssel löschen',
  deleteTitle: 'SSH-Schlüssel löschen?',
  deleteAbout: (name) =>
    `„${name}“ steht für neue VMs nicht mehr zur Verfügung. Bestehende VMs behalten den Schlüssel: Entfernen Sie ihn in jeder VM, oder setzen Sie die VM neu auf.`,
  deleted: (name) => `SSH-Schlüssel ${name} gelöscht`,
  bulk: {
    delete: 'SSH-Schlüssel löschen',
    title: 'SSH-Schlüssel löschen?',
    about:
      'Neue VMs können sie nicht mehr verwenden. VMs, die sie haben, behalten sie: Entfernen Sie sie in den VMs, oder setzen Sie diese neu auf.',
  },
}
