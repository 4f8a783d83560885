// Sends the form of an operation with the session or an API key, and shows the response. The key stays in this page's memory. Responses are
// inserted as text only.
const credentials = document.getElementById('credentials')
const asSession = credentials.elements.namedItem('session')
const asKey = credentials.elements.namedItem('key')
const token = credentials.elements.namedItem('token')

credentials.addEventListener('submit', (event) => event.preventDefault())
token.addEventListener('input', () => (asKey.checked = true))
credentials.hidden = false
for (const form of document.querySelectorAll('form.try')) {
  form.hidden = false
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void send(form)
  })
}
void findSession()

async function findSession() {
  const response = await fetch('/api/dashboard/session').catch(() => null)
  const whose = document.getElementById('whose')
  if (response?.status !== 200) {
    asSession.disabled = true
    asKey.checked = true
    whose.textContent = 'You are not signed in to the dashboard.'
    return
  }
  const { data } = await response.json()
  if (token.value === '') asSession.checked = true // a key already typed wins
  whose.textContent = `Signed in as ${data.user.email}.`
}

async function send(form) {
  const answer = form.querySelector('.answer')
  const button = form.querySelector('button')
  button.disabled = true
  const started = performance.now()
  try {
    const response = await fetch(...requestOf(form))
    const text = await response.text()
    const took = Math.round(performance.now() - started)
    const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n')
    show(answer, `HTTP ${response.status} ${response.statusText} · ${took} ms`, response.ok, { Headers: headers, Body: pretty(text) })
  } catch (error) {
    show(answer, `The request was not sent: ${error.message}`, false, {})
  } finally {
    button.disabled = false
  }
}

function requestOf(form) {
  const { method, path } = form.dataset
  const given = [...form.elements].filter(({ name, value }) => name !== '' && value !== '')
  const of = (kind) =>
    given.filter(({ name }) => name.startsWith(`${kind}:`)).map(({ name, value }) => [name.slice(kind.length + 1), value])
  const filled = of('path').reduce((text, [name, value]) => text.replace(`{${name}}`, encodeURIComponent(value)), path)
  const query = new URLSearchParams(of('query')).toString()
  const [[, body] = []] = of('body')
  const withKey = asKey.checked
  const headers = { accept: 'application/json', ...Object.fromEntries(of('header')) }
  if (withKey) headers['x-api-key'] = token.value.trim()
  if (body) headers['content-type'] = 'application/json'
  const prefix = withKey ? credentials.dataset.prefix : '/api/dashboard/v1'
  return [`${prefix}${filled}${query && `?${query}`}`, { method, headers, body, credentials: withKey ? 'omit' : 'same-origin' }]
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

function show(answer, line, ok, parts) {
  const said = document.createElement('p')
  said.className = 'said'
  said.dataset.ok = String(ok)
  said.textContent = line
  const shown = Object.entries(parts).flatMap(([name, text]) => {
    const title = document.createElement('h4')
    title.textContent = name
    const block = document.createElement('pre')
    block.tabIndex = 0
    block.setAttribute('aria-label', name)
    block.textContent = text
    return [title, block]
  })
  answer.replaceChildren(said, ...shown)
}
