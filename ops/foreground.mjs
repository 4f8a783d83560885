// Runs a program in the foreground: it inherits stdio, its exit code is returned, and a signal reaches it exactly once. The program has its
// own session, so Ctrl-C in a terminal reaches only us. Under npm it arrives twice, from the terminal and from npm: signals within `echoMs`
// are duplicates and dropped, a later one is forwarded. When we are killed, the program sees its IPC channel close; when npm is killed, we
// stop the program.
import { spawn } from 'node:child_process'
import { constants } from 'node:os'

const echoMs = 500

/** @param {string} command @param {string[]} args @param {NodeJS.ProcessEnv} env */
export function runInForeground(command, args, env = process.env) {
  const child = spawn(command, args, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'], detached: true, env })
  let lastSignalAt = -Infinity
  const forward = (signal) => {
    if (performance.now() - lastSignalAt < echoMs) return
    lastSignalAt = performance.now()
    child.kill(signal)
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']
  for (const signal of signals) process.on(signal, forward)
  const watching = env.npm_lifecycle_event && watchStarter(() => forward('SIGTERM'))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code, signal) => {
      for (const name of signals) process.off(name, forward)
      clearInterval(watching)
      resolve(code ?? 128 + constants.signals[signal])
    })
  })
}

function watchStarter(gone) {
  const { ppid } = process
  const timer = setInterval(() => {
    if (process.ppid === ppid) return
    clearInterval(timer)
    gone()
  }, 250)
  return timer
}
