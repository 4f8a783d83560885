// Keys as X11 names them, which is what VNC sends. Text is typed as on a US keyboard: the guest is told of Shift too.

export const KEYS = {
  ControlLeft: 0xffe3,
  AltLeft: 0xffe9,
  ShiftLeft: 0xffe1,
  Delete: 0xffff,
  Tab: 0xff09,
  Enter: 0xff0d,
  PrintScreen: 0xff15,
  F1: 0xffbe,
  F2: 0xffbf,
  F3: 0xffc0,
  F4: 0xffc1,
  F5: 0xffc2,
  F6: 0xffc3,
  F7: 0xffc4,
  KeyS: 0x73,
  KeyU: 0x75,
  KeyB: 0x62,
  KeyC: 0x63,
} as const

export type KeyCode = keyof typeof KEYS

/** Held together, in this order. SysRq needs its key to be enabled in the guest (kernel.sysrq). */
export const COMBINATIONS: Record<string, KeyCode[]> = {
  'Ctrl+Alt+Del': ['ControlLeft', 'AltLeft', 'Delete'],
  ...Object.fromEntries(
    (['F1', 'F2', 'F3', 'F4', 'F5', 'F6', 'F7'] as const).map((key): [string, KeyCode[]] => [
      `Ctrl+Alt+${key}`,
      ['ControlLeft', 'AltLeft', key],
    ]),
  ),
  'Alt+Tab': ['AltLeft', 'Tab'],
  'Ctrl+C': ['ControlLeft', 'KeyC'],
  'Alt+SysRq+S': ['AltLeft', 'PrintScreen', 'KeyS'],
  'Alt+SysRq+U': ['AltLeft', 'PrintScreen', 'KeyU'],
  'Alt+SysRq+B': ['AltLeft', 'PrintScreen', 'KeyB'],
}

const SHIFTED = '~!@#$%^&*()_+{}|:"<>?'

export interface Stroke {
  keysym: number
  shift: boolean
}

export function strokesOf(text: string): Stroke[] {
  return Array.from(text.replace(/\r\n?/g, '\n')).flatMap((char): Stroke[] => {
    const point = char.codePointAt(0)!
    if (char === '\n') return [{ keysym: KEYS.Enter, shift: false }]
    if (char === '\t') return [{ keysym: KEYS.Tab, shift: false }]
    if (point < 0x20 || point === 0x7f) return []
    return [{ keysym: point < 0x100 ? point : 0x0100_0000 + point, shift: /[A-Z]/.test(char) || SHIFTED.includes(char) }]
  })
}

/** What a terminal is sent for them. */
export const CONTROL_CHARACTERS: Record<string, string> = {
  'Ctrl+C': '\x03',
  'Ctrl+D': '\x04',
  'Ctrl+Z': '\x1a',
  'Ctrl+\\': '\x1c',
  'Ctrl+R': '\x12',
  Escape: '\x1b',
  Tab: '\t',
}
