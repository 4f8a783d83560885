// Shared by the serial and the VNC console.

export interface ConsoleScreenProps {
  url: string
  label: string
  onConnected: () => void
  onClosed: (reason: string) => void
}

/** The console captures Tab, so keyboard users leave with Ctrl+Shift+Escape. */
export const isLeaveKey = ({ ctrlKey, shiftKey, key }: KeyboardEvent): boolean => ctrlKey && shiftKey && key === 'Escape'
