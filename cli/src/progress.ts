// Progress of an action: one line per finished step, and on a terminal a spinner for the running one.
import type { Action } from '@berth/sdk'
import { seconds } from './format.ts'
import type { Io } from './io.ts'
import { paintOn, sanitizeTerminal } from './style.ts'

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const FRAME_MS = 100
const WIDTH = 24
/** Without a terminal that shows the seconds, how long a step runs before it is named. */
const NAMED_AFTER_MS = 10_000

export interface Progress {
  update(action: Action): void
  /** Removes the spinner line so that another line can be printed. */
  clear(): void
  end(): void
}

export function startProgress({ stderr, env }: Io, label: string): Progress {
  const paint = paintOn(stderr, env)
  const live = stderr.isTTY === true && env['TERM'] !== 'dumb'
  const startedMs = performance.now()
  const printedSteps = new Set<string>()
  let currentStep = label
  let frame = 0
  let isUndoing = false
  let named: string | undefined

  const clear = (): void => void (live && stderr.write('\r\x1b[2K'))
  const draw = (): void => {
    const spinner = FRAMES[frame++ % FRAMES.length]!
    stderr.write(
      `\r\x1b[2K ${paint('yellow', spinner)} ${sanitizeTerminal(currentStep).padEnd(WIDTH)} ${Math.floor((performance.now() - startedMs) / 1000)} s`,
    )
  }
  const timer = live ? setInterval(draw, FRAME_MS) : undefined
  if (live) draw()

  const printStep = (mark: string, text: string, tookMs: number): void => {
    clear()
    stderr.write(` ${mark} ${sanitizeTerminal(text).padEnd(WIDTH)} ${seconds(tookMs)}\n`)
  }
  return {
    update(action) {
      for (const { name, status, startedAt, completedAt } of action.steps) {
        if (status === 'RUNNING' && !isUndoing) currentStep = `${label}: ${name}`
        if (!live && status === 'RUNNING' && startedAt && name !== named && performance.now() - startedMs >= NAMED_AFTER_MS) {
          named = name
          stderr.write(`   ${sanitizeTerminal(currentStep)}: not done yet, still waiting\n`)
        }
        if (printedSteps.has(name) || !startedAt || !completedAt) continue
        printedSteps.add(name)
        const tookMs = Date.parse(completedAt) - Date.parse(startedAt)
        printStep(status === 'COMPLETED' ? paint('green', '✓') : paint('red', '✗'), name, tookMs)
        if (status === 'FAILED' && !isUndoing && (action.status === 'PENDING' || action.status === 'RUNNING')) {
          isUndoing = true
          currentStep = `${label}: undoing`
          stderr.write('   undoing what was done; it goes on in the background\n')
        }
      }
    },
    clear,
    end() {
      clearInterval(timer)
      clear()
    },
  }
}
