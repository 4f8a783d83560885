import './design/elements.css'
import '@mantine/core/styles/baseline.layer.css'
import '@mantine/core/styles/default-css-variables.layer.css'
import '@mantine/core/styles/global.layer.css'
import './design/tokens.css'
import './design/fonts.css'
import './base.css'
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queryClient } from './api/client.ts'
import { router } from './router.tsx'
import { cssVariables, theme } from './theme.ts'
import { Toasts } from './ui/Toasts.tsx'

// Reload when a chunk cannot be fetched: a new version was deployed, or the network changed.
addEventListener('vite:preloadError', () => {
  const last = Number(sessionStorage.getItem('berth:reloaded') ?? 0)
  if (Date.now() - last < 10_000) return
  sessionStorage.setItem('berth:reloaded', String(Date.now()))
  location.reload()
})

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <MantineProvider theme={theme} cssVariablesResolver={cssVariables} defaultColorScheme="auto">
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
        <Toasts />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
