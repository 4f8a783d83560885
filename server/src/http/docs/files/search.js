// Shows what is found while one types, without a new page for each letter.
const field = document.querySelector('input[type=search]')
const results = document.getElementById('results')
let waiting
let asked = 0

const search = async () => {
  const mine = ++asked
  const address = `/docs/search?${new URLSearchParams({ q: field.value })}`
  const answer = await fetch(address)
  if (!answer.ok || mine !== asked) return
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
  results.replaceChildren(...page.getElementById('results').childNodes)
  history.replaceState(null, '', address)
}

field.addEventListener('input', () => {
  clearTimeout(waiting)
  waiting = setTimeout(search, 300)
})
field.focus()
field.setSelectionRange(field.value.length, field.value.length)
