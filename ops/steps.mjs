// One line per step with its duration. On a terminal the line appears while the step runs; elsewhere when it is done.
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { stripVTControlCharacters } from 'node:util'

const labelWidth = 57

/** The step was shown as failed with its output; `exitCode` is the exit code of the program. */
export class StepFailed extends Error {
  constructor(cause) {
    super(cause.message, { cause })
    this.interrupted = cause.signal !== undefined
    this.exitCode = this.interrupted ? 128 + constants.signals[cause.signal] : 1
  }
}

/** Prints the consequence of something missing, and the fix. */
export function warn(label, note) {
  showLine('!', label, note)
}

export async function step(label, work) {
  const startedAt = performance.now()
  if (process.stdout.isTTY) process.stdout.write(` … ${label}`)
  const seconds = () => `${((performance.now() - startedAt) / 1000).toFixed(1)} s`
  try {
    await work()
    showLine('✓', label, seconds())
  } catch (error) {
    showLine('✗', label, seconds())
    // Some tools print colours even to a pipe.
    console.error(`\n${process.stderr.isTTY ? error.message.trim() : stripVTControlCharacters(error.message.trim())}\n`)
    throw new StepFailed(error)
  }
}

function showLine(mark, label, note) {
  process.stdout.write(`${process.stdout.isTTY ? '\r\x1b[2K' : ''} ${mark} ${label.padEnd(labelWidth - 1)} ${note}\n`)
}

/** Runs a command silently; rejects with its output when it fails, and forwards a signal that ends us, so that callers can clean up. */
export function runQuietly(command, args, env = process.env) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
  let received
  const pass = (signal) => {
    received = signal
    child.kill(signal)
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, pass)
  return new Promise((resolve, reject) => {
    child.on('error', (error) => reject(new Error(`Cannot run ${command}: ${error.message}`)))
    child.on('close', (code, signal) => {
      for (const name of signals) process.off(name, pass)
      if (received) reject(Object.assign(new Error(`Stopped by ${received}.`), { signal: received }))
      else if (code === 0) resolve(output)
      else reject(new Error(`${output}\n${command} ${args.join(' ')}: ${signal ? `ended by ${signal}` : `exit code ${code}`}`))
    })
  })
}
