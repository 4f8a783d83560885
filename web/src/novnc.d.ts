// noVNC ships no types; this declares the part in use.
declare module '@novnc/novnc' {
  export default class RFB extends EventTarget {
    constructor(target: HTMLElement, url: string)
    scaleViewport: boolean
    background: string
    focus(): void
    blur(): void
    disconnect(): void
    sendCtrlAltDel(): void
  }
}
