// What was done or refused, said in a corner. A store outside of React, so that anything can speak.
export interface Toast {
  id: number
  kind: 'done' | 'failed'
  sentence: string
}

const DONE_MS = 5_000
const FAILED_MS = 12_000

let toasts: readonly Toast[] = []
let lastId = 0
const listeners = new Set<() => void>()

function set(next: readonly Toast[]): void {
  toasts = next
  for (const tell of listeners) tell()
}

export const dismiss = (id: number): void => set(toasts.filter((each) => each.id !== id))

function say(kind: Toast['kind'], sentence: string): void {
  const id = ++lastId
  set([...toasts.filter((each) => each.sentence !== sentence), { id, kind, sentence }].slice(-4))
  setTimeout(dismiss, kind === 'done' ? DONE_MS : FAILED_MS, id)
}

export const toast = {
  done: (sentence: string): void => say('done', sentence),
  failed: (sentence: string): void => say('failed', sentence),
}

export const toastStore = {
  subscribe: (tell: () => void): (() => void) => {
    listeners.add(tell)
    return () => listeners.delete(tell)
  },
  current: (): readonly Toast[] => toasts,
}
