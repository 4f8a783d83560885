// Sets the theme before anything is drawn, so that a page does not flash in the other one. Mantine keeps the choice under this key.
{
  let chosen = null
  try {
    chosen = localStorage.getItem('mantine-color-scheme-value')
  } catch {
    // Storage can be forbidden; then the system decides.
  }
  const system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
  document.documentElement.dataset.mantineColorScheme = chosen === 'light' || chosen === 'dark' ? chosen : system
}
