// Applies the colour scheme chosen in the dashboard before the first paint; by default the system's.
const KEY = 'mantine-color-scheme-value'
const root = document.documentElement

const isDark = () => {
  const wanted = localStorage.getItem(KEY)
  return wanted === 'dark' || (wanted !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
}

const show = () => {
  const wanted = localStorage.getItem(KEY)
  if (wanted === 'light' || wanted === 'dark') root.dataset.scheme = wanted
  const button = document.getElementById('colours')
  if (button) button.textContent = isDark() ? 'Light' : 'Dark'
}

show()
addEventListener('DOMContentLoaded', () => {
  const button = document.getElementById('colours')
  button.hidden = false
  button.addEventListener('click', () => {
    localStorage.setItem(KEY, isDark() ? 'light' : 'dark')
    show()
  })
  show()
})
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', show)
