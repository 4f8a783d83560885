// argv → command. What a command needs is loaded when it runs, so none of them waits for the libraries of another.
import { runCommand } from './commands/program.ts'

process.exitCode = await runCommand(process.argv.slice(2))
