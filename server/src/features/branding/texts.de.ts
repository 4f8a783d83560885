import type { MailTexts } from './mails.schema.ts'

const unpaid = (what: string, whose: string, consequence: string, kept: string) => ({
  subject: `${whose} ${what} {name} wird ${consequence}`,
  body: `Die Verlängerung von ${what} {name} ({id}) konnte nicht bezahlt werden.

Einzelheiten: {reason}

Zahlen Sie den fälligen Betrag ein, und ${kept}, als wäre nichts geschehen.`,
})

export const german: MailTexts = {
  'billing.low_balance': {
    subject: 'Ihr Guthaben wird knapp',
    body: `Ihr Guthaben beträgt {balance} {currency}; die Verlängerungen der nächsten 7 Tage kosten {due} {currency}.

Zahlen Sie mindestens {missing} {currency} ein. Eine VM, deren Verlängerung nicht bezahlt werden kann, wird 24 Stunden später gesperrt.`,
  },
  'vm.past_due': {
    subject: 'Ihre VM {vm} wird gesperrt',
    body: `Die Verlängerung Ihrer VM {vm} ({id}) konnte nicht bezahlt werden.

Einzelheiten: {reason}

Zahlen Sie den fälligen Betrag ein, und die VM läuft weiter, als wäre nichts geschehen.`,
  },
  'vm.suspended_unpaid': {
    subject: 'Ihre VM {vm} ist gesperrt',
    body: `Ihre VM {vm} ({id}) ist gesperrt, weil ihre Verlängerung nicht bezahlt ist.

Ihr Datenträger und ihre Adresse bleiben 7 Tage erhalten, danach wird sie gelöscht.

Zahlen Sie den fälligen Betrag ein, und sie startet von selbst wieder.`,
  },
  'vm.suspended': {
    subject: 'Ihre VM {vm} ist gesperrt',
    body: `Ihre VM {vm} ({id}) wurde vom Betreiber gesperrt.

Ihr Datenträger und ihre Adresse bleiben erhalten. Fragen Sie mit einem Ticket nach dem Grund.`,
  },
  'vm.recovered': {
    subject: 'Ihre VM {vm} wurde aus einem Backup wiederhergestellt',
    body: `Ihre VM {vm} ({id}) läuft auf einem anderen Host.

Einzelheiten: {reason}

Ihre Snapshots und ihre Volumes auf lokalem Speicher lagen auf denselben Datenträgern und sind verloren. Was für den Rest des Zeitraums bezahlt war, wurde erstattet.`,
  },
  'vm.lost': {
    subject: 'Ihre VM {vm} ist verloren',
    body: `Ihre VM {vm} ({id}) ist verloren.

Einzelheiten: {reason}

Installieren Sie sie neu, um mit einem leeren Datenträger zu beginnen, oder löschen Sie sie. Bis dahin kostet sie nichts.`,
  },
  'vm.rescue_expired': {
    subject: 'Das Rescue-System Ihrer VM {vm} ist beendet',
    body: `Ihre VM {vm} ({id}) war 24 Stunden im Rescue-System und wird von ihrem eigenen Datenträger neu gestartet.

Was Sie auf dem Datenträger des Rescue-Systems gespeichert haben, ist verloren; Änderungen auf dem eigenen Datenträger bleiben.

Startet sie nicht, sehen Sie in der Konsole nach, und starten Sie das Rescue-System erneut.`,
  },
  'volume.past_due': unpaid('Volume', 'Ihr', 'getrennt und dann gelöscht', 'das Volume bleibt Ihnen'),
  'volume.deleted': {
    subject: 'Ihr Volume {name} wurde gelöscht',
    body: `Ihr Volume {name} ({id}) wurde mit seinen Snapshots gelöscht.

Einzelheiten: {reason}

Was für ungenutzte Tage bezahlt war, wurde erstattet.`,
  },
  'image.past_due': unpaid('Image', 'Ihr', 'gelöscht', 'das Image bleibt Ihnen'),
  'address.past_due': unpaid('Adresse', 'Ihre', 'freigegeben', 'die Adresse bleibt Ihnen'),
  'maintenance.announced': {
    subject: 'Wartung eines Hosts Ihrer VMs',
    body: `Ein Host mit {count} Ihrer VMs wird von {start} bis {end} gewartet.

VMs: {vms}

{text}

Sie finden die Wartung auch auf der ersten Seite des Dashboards. Wenn Sie uns dazu schreiben, nennen Sie bitte {id}.`,
  },
  'maintenance.cancelled': {
    subject: 'Eine Wartung entfällt',
    body: 'Die Wartung, die von {start} bis {end} angekündigt war ({id}), wurde abgesagt.',
  },
  'alert.fired': {
    subject: 'Alarm: {alert}',
    body: `VM: {vm} ({id})

{metric} ist {value} ({comparison} {threshold}) seit {since}.

Das ist Ihr Alarm {alert} ({alertId}).`,
  },
  'alert.resolved': {
    subject: 'Vorbei: {alert}',
    body: `Der Alarm {alert} ({alertId}), der um {since} gemeldet wurde, ist vorbei.

VM: {vm} ({id})

{metric} ist wieder {value}.

Einzelheiten: {reason}`,
  },
  'backup.verification_failed': {
    subject: 'Ein Backup Ihrer VM {vm} lässt sich nicht wiederherstellen',
    body: `Das Backup {backup} Ihrer VM {vm} wurde zur Probe wiederhergestellt, und das ist fehlgeschlagen.

Einzelheiten: {reason}

Erstellen Sie ein neues Backup.`,
  },
  'webhook.disabled': {
    subject: 'Webhook deaktiviert',
    body: `An {url} (Webhook {id}) werden keine Ereignisse mehr gesendet.

Einzelheiten: {reason}

Bringen Sie den Endpunkt in Ordnung, und aktivieren Sie den Webhook wieder. Was inzwischen geschehen ist, steht unter Ereignisse.`,
  },
  'ticket.reply': {
    subject: 'Neue Antwort auf Ihr Ticket: {ticket}',
    body: `Der Support hat auf Ihr Ticket „{ticket}“ ({id}) geantwortet.

Sie finden die Antwort im Dashboard unter Tickets oder mit GET /tickets/{id}.`,
  },
  password_reset: {
    subject: 'Neues Passwort festlegen',
    body: `Jemand, hoffentlich Sie, hat ein neues Passwort für das Dashboard angefordert.

Legen Sie es hier innerhalb einer Stunde fest: {link}

Auch damit können Sie sich anmelden, und ein neues Passwort ändert daran nichts: {identities}. Trennen Sie in den Einstellungen unter Sicherheit, was nicht Ihnen gehört.

Wenn Sie das nicht waren, tun Sie nichts: Ihr Passwort bleibt, wie es ist.`,
  },
  sign_up: {
    subject: 'Bestätigen Sie Ihre E-Mail-Adresse',
    body: `Jemand, hoffentlich Sie, möchte mit dieser Adresse ein Konto anlegen.

Wählen Sie innerhalb eines Tages ein Passwort, und das Konto gehört Ihnen: {link}

Wenn Sie das nicht waren, tun Sie nichts: Es wird kein Konto angelegt.`,
  },
  sign_up_exists: {
    subject: 'Sie haben bereits ein Konto',
    body: `Jemand, hoffentlich Sie, wollte mit dieser Adresse ein Konto anlegen. Es gibt bereits eines.

Melden Sie sich an wie bisher. Wenn Sie das Passwort vergessen haben, legen Sie ein neues fest: {link}

Wenn Sie das nicht waren, tun Sie nichts.`,
  },
  invitation: {
    subject: 'Sie sind in ein Konto eingeladen',
    body: `{inviter} lädt Sie in das Konto {account} ein, mit der Rolle {role}.

Nehmen Sie die Einladung bis {until} an: {link}

Wenn Sie nicht wissen, wer das ist, tun Sie nichts: Niemand erfährt, ob Sie ein Konto haben.`,
  },
  identity_linked: {
    subject: 'Sie können sich jetzt mit {provider} anmelden',
    body: `Jemand, hoffentlich Sie, hat ein Konto von {provider} mit Ihrem verknüpft: Ab jetzt meldet es Sie an.

Das Konto dort ist {account}.

Wenn Sie das nicht waren, trennen Sie es sofort in den Einstellungen unter Sicherheit, und ändern Sie Ihr Passwort: {link}`,
  },
  identity_unlinked: {
    subject: '{provider} meldet Sie nicht mehr an',
    body: `Jemand, hoffentlich Sie, hat das Konto von {provider} von Ihrem getrennt.

Das Konto dort ist {account}.

Wenn Sie das nicht waren, ändern Sie in den Einstellungen unter Sicherheit Ihr Passwort, und trennen Sie dort, was Sie sonst anmeldet und nicht Ihnen gehört: {link}`,
  },
  identity_removed: {
    subject: '{provider} meldet Sie nicht mehr an',
    body: `Die Anmeldung mit {provider} wird nicht mehr angeboten, deshalb ist Ihr Konto von dort getrennt.

Das Konto dort ist {account}.

Melden Sie sich an wie sonst. Was Sie anmeldet, steht in den Einstellungen unter Sicherheit: {link}`,
  },
  identity_removed_last: {
    subject: 'Legen Sie ein Passwort fest: {provider} meldet Sie nicht mehr an',
    body: `Die Anmeldung mit {provider} wird nicht mehr angeboten, und sie war Ihr einziger Zugang.

Das Konto dort ist {account}.

Legen Sie hier innerhalb von 7 Tagen ein Passwort fest: {link}

Danach fordern Sie auf der Anmeldeseite einen neuen Link an.`,
  },
}
