/** What stands after # is sent to no server and kept in no log. It leaves the address bar at once, but a reload keeps it for this tab. */
export function readLinkToken(): string {
  const key = `berth${location.pathname}`
  const given = location.hash.slice(1)
  if (given) {
    sessionStorage.setItem(key, given)
    history.replaceState(history.state, '', location.pathname + location.search)
  }
  return given || (sessionStorage.getItem(key) ?? '')
}
