import type { addressMessages as en } from '../en/addresses.ts'
import type { Translated } from '../translated.ts'

export const addressMessages: Translated<typeof en> = {
  title: 'IP-Adressen',
  about:
    'Öffentliche Adressen, die Ihnen bleiben und zwischen Ihren VMs wechseln, zum Beispiel wenn eine ausfällt. Sie werden monatlich berechnet.',
  reserve: 'Adresse reservieren',
  reserveAbout: (price) => `${price} jetzt und danach jeden Monat.`,
  emptyTitle: 'Noch keine Floating-IPs',
  emptyAbout: 'Reservieren Sie eine Adresse, weisen Sie sie einer VM zu, und verschieben Sie sie in Sekunden auf eine andere.',
  address: 'Adresse',
  name: 'Name',
  nameHint: 'Ohne Angabe die Adresse selbst.',
  region: 'Region',
  vm: 'VM',
  unassigned: 'Nicht zugewiesen',
  guest: 'Im Gastsystem',
  guestStates: { PENDING: 'Ausstehend', CONFIGURED: 'Eingerichtet', MANUAL: 'Selbst einrichten' },
  price: 'Preis pro Monat',
  reserved: (address) => `Adresse ${address} reserviert`,
  rename: (name) => `${name} umbenennen`,
  assign: 'Einer VM zuweisen',
  assignTitle: (address) => `${address} zuweisen`,
  assignTakes: (vm) => `${vm} verliert die Adresse.`,
  assigning: (address) => `Zuweisung von ${address} gestartet`,
  unassign: 'Zuweisung aufheben',
  unassignTitle: 'Zuweisung aufheben?',
  unassignAbout: (address) => `Die VM ist unter ${address} nicht mehr erreichbar. Die Adresse bleibt Ihre.`,
  unassigning: (address) => `Aufhebung der Zuweisung von ${address} gestartet`,
  release: 'Adresse freigeben',
  releaseTitle: 'Adresse freigeben?',
  releaseAbout: (address) =>
    `${address} wird zurückgegeben und kann an andere Kunden gehen. Ungenutzte volle Tage werden erstattet. Die Adresse zählt noch 10 Minuten zu Ihrem Limit.`,
  releaseAssigned: (address) => `${address} ist einer VM zugewiesen. Heben Sie zuerst die Zuweisung auf.`,
  released: (address) => `Adresse ${address} freigegeben`,
  bulk: {
    release: 'Adressen freigeben',
    title: 'Adressen freigeben?',
    about: 'Sie werden endgültig aufgegeben, und andere können sie erhalten.',
    count: (count) => (count === 1 ? '1 Adresse' : `${count} Adressen`),
  },
}
