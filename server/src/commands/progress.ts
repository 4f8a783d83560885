// One line per step with its time, in the columns of the bootstrap's. On a terminal the line is there while the step runs.
import { stopwatch } from '../kernel/clock.ts'

const LABEL_WIDTH = 57

export const say = (text: string): void => void process.stdout.write(`${text}\n`)

interface Done {
  label: string
  note?: string
}

/** `doing` is shown while it runs and when it fails, `done` when it has worked, null = nothing. A failure is the caller's to explain. */
export async function step<T>(doing: string, work: () => Promise<T>, done: (result: T) => Done | null): Promise<T> {
  const elapsed = stopwatch()
  const took = (): string => `${(elapsed() / 1000).toFixed(1)} s`
  if (process.stdout.isTTY) process.stdout.write(`\r\x1b[2K … ${doing}`)
  try {
    const result = await work()
    const line = done(result)
    if (line) showLine('✓', line.label, line.note ?? took())
    return result
  } catch (error) {
    showLine('✗', doing, took())
    throw error
  }
}

export function showLine(mark: '✓' | '✗' | '!', label: string, note: string): void {
  const start = process.stdout.isTTY ? '\r\x1b[2K' : ''
  say(`${start} ${mark} ${label.padEnd(LABEL_WIDTH)}${note && ` ${note}`}`.trimEnd())
}
