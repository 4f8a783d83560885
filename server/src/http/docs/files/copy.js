// A button on every example that copies it. Only where the browser allows it: over https, or on the same machine.
for (const example of navigator.clipboard ? document.querySelectorAll('pre') : []) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(example.textContent.replace(/\n$/, ''))
    button.textContent = 'Copied'
    setTimeout(() => (button.textContent = 'Copy'), 2_000)
  })
  const frame = document.createElement('div')
  frame.className = 'example'
  example.replaceWith(frame)
  frame.append(example, button)
}
