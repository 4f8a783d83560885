// Toast notifications. The store lives outside React, so that code without a component can show a toast.
export interface Toast {
  id: number
  kind: 'done' | 'failed'
  message: string
}

const DONE_MS = 5_000
const FAILED_MS = 12_000

let toasts: readonly Toast[] = []
let lastId = 0
const listeners = new Set<() => void>()

function set(next: readonly Toast[]): void {
  toasts = next
  for (const notify of listeners) notify()
}

export const dismiss = (id: number): void => set(toasts.filter((each) => each.id !== id))

function show(kind: Toast['kind'], message: string): void {
  const id = ++lastId
  set([...toasts.filter((each) => each.message !== message), { id, kind, message }].slice(-4))
  setTimeout(dismiss, kind === 'done' ? DONE_MS : FAILED_MS, id)
}

export const toast = {
  success: (message: string): void => show('done', message),
  error: (message: string): void => show('failed', message),
}

export const toastStore = {
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
  current: (): readonly Toast[] => toasts,
}
