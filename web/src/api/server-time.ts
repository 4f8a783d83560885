// How far the clock of this computer is from the server's, by the answers: what ends in a minute must not seem to have ended.
let aheadMs = 0

/** HTTP tells whole seconds, so that less says nothing. */
const SLACK_MS = 2_000

export function noteServerTime({ headers }: Response): void {
  const at = Date.parse(headers.get('date') ?? '')
  if (Number.isNaN(at)) return
  const differs = at + 500 - Date.now()
  aheadMs = Math.abs(differs) < SLACK_MS ? 0 : differs
}

/** The time of the server at that time of this computer. */
export const serverTime = (now: number): number => now + aheadMs
