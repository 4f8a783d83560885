// noVNC ships no types; this declares the part in use.
declare module '@novnc/novnc' {
  export default class RFB extends EventTarget {
    constructor(target: HTMLElement, channel: WebSocket)
    scaleViewport: boolean
    background: string
    focus(): void
    blur(): void
    disconnect(): void
    /** Pressed and released when `down` is left out. */
    sendKey(keysym: number, code: string, down?: boolean): void
  }
}
