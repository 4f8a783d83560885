// All commands.
import { createCommand, type Command } from 'commander'
import { accountCommands, ownerCommands } from './admin/account.ts'
import { actionCommands } from './admin/action.ts'
import { backupCommands } from './admin/backup.ts'
import { backupTargetCommands } from './admin/backup-target.ts'
import { certificateCommands } from './admin/certificate.ts'
import { clockCommands } from './admin/clock.ts'
import { asError } from './errors.ts'
import { fleetCommands } from './admin/fleet.ts'
import { hostCommands } from './admin/host.ts'
import { hostPrepareCommands } from './admin/host-prepare.ts'
import { joinCommands } from './admin/join.ts'
import { maintenanceCommands } from './admin/maintenance.ts'
import { networkControllerCommands } from './admin/network-controller.ts'
import { printable } from './output.ts'
import { paymentCommands } from './admin/payment.ts'
import { identityProviderCommands } from './admin/identity-provider.ts'
import { userCommands } from './admin/user.ts'
import { planCommands } from './admin/plan.ts'
import { ipPoolCommands } from './admin/ip-pool.ts'
import { regionCommands } from './admin/region.ts'
import { processCommands } from './process-commands.ts'
import { setupCommands } from './setup-command.ts'
import { ticketCommands } from './admin/ticket.ts'
import { storageCommands } from './admin/storage.ts'
import { supportBundleCommands } from './doctor/support-bundle.ts'
import { templateCommands } from './admin/template.ts'
import { tokenCommands } from './admin/token.ts'
import { VERSION } from '../kernel/version.ts'
import { vmCommands } from './admin/vm.ts'

export function createProgram(json: boolean): Command {
  const program = createCommand('berthd').description('Runs Berth and administers it.').version(VERSION)
  for (const add of [
    processCommands,
    setupCommands,
    backupCommands,
    joinCommands,
    accountCommands,
    ownerCommands,
    userCommands,
    identityProviderCommands,
    paymentCommands,
    clockCommands,
    tokenCommands,
    regionCommands,
    hostCommands,
    hostPrepareCommands,
    fleetCommands,
    maintenanceCommands,
    networkControllerCommands,
    certificateCommands,
    storageCommands,
    ipPoolCommands,
    backupTargetCommands,
    planCommands,
    templateCommands,
    vmCommands,
    actionCommands,
    ticketCommands,
    supportBundleCommands,
  ])
    add(program)
  program.addHelpText(
    'after',
    '\nEvery command has an example in its help: npx berthd account credit --help\nSettings are BERTH_* variables.',
  )
  forEach(program, (command) => behave(command, json))
  return program
}

export function forEach(command: Command, visit: (each: Command) => void): void {
  visit(command)
  for (const child of command.commands) forEach(child, visit)
}

function behave(command: Command, json: boolean): void {
  command
    .exitOverride()
    .helpCommand(false)
    .showSuggestionAfterError(!json)
    .configureOutput({
      writeOut: (text) => process.stdout.write(printable(text)),
      outputError: (text, write) => write(asError(text.replace(/^error: /, '').trim(), json)),
    })
}
