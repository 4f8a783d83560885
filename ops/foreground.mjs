// Runs a program with inherited output, returns its exit code, and forwards each signal exactly once.
// The program runs in its own session, so Ctrl-C in a terminal reaches only this process. Under npm the signal arrives twice, from the terminal
// and from npm: signals within `echoMs` of the last one are duplicates and are dropped; a later one is deliberate and is forwarded.
// If this process is killed, the program sees its IPC channel close; if npm is killed, this process sends SIGTERM to the program.
import { spawn } from 'node:child_process'
import { constants } from 'node:os'

const echoMs = 500

/** @param {string} command @param {string[]} args @param {NodeJS.ProcessEnv} env */
export function runInForeground(command, args, env = process.env) {
  let child
  let lastSignalAt = -Infinity
  const forward = (signal) => {
    if (performance.now() - lastSignalAt < echoMs) return
    lastSignalAt = performance.now()
    child.kill(signal)
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']
  // Listening comes first: a signal in the moment after the fork would otherwise end this process and leave the program running alone.
  for (const signal of signals) process.on(signal, forward)
  const parent = process.ppid // likewise: read in the moment after the fork, it could be of whoever took this process over
  child = spawn(command, args, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'], detached: true, env })
  const watching = env.npm_lifecycle_event && watchParent(parent, () => forward('SIGTERM'))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code, signal) => {
      for (const name of signals) process.off(name, forward)
      clearInterval(watching)
      resolve(code ?? 128 + constants.signals[signal])
    })
  })
}

function watchParent(parent, onExit) {
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    onExit()
  }, 250)
  return timer
}
