/** The token is in the fragment, which browsers never send to a server or log. It is removed from the address bar; sessionStorage keeps it across a reload of this tab. */
export function readLinkToken(): string {
  const key = `berth${location.pathname}`
  const given = location.hash.slice(1)
  if (given) {
    sessionStorage.setItem(key, given)
    history.replaceState(history.state, '', location.pathname + location.search)
  }
  return given || (sessionStorage.getItem(key) ?? '')
}
