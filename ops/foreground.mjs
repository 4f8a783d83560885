// Runs a program in our place: its output is ours, its exit code is returned, and a signal sent to us reaches it exactly once.
// The program gets a session of its own, so a terminal's Ctrl-C comes to us alone. Under npm we then hear of it twice, from the terminal
// and from npm: signals that follow within `echoMs` are that echo and are dropped, a later one is a person insisting and is passed on.
// When we are killed, the program hears of it by the end of its channel to us; when npm above us is, we ask the program to stop.
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
