// argv → command. What a command needs is loaded when it runs, so none of them waits for the libraries of another.
const args = process.argv.slice(2)
// Only `up` starts this one, and is not ready before it is: it does not wait for the other commands.
if (args[0] === 'serve' && process.send) {
  const { serveUnprivileged } = await import('./commands/process/unprivileged.ts')
  process.exit(await serveUnprivileged())
}
const { runCommand } = await import('./commands/run-command.ts')
process.exitCode = await runCommand(args)
