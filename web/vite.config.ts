// Everything the browser needs comes from one folder of static files: nothing is inlined, so that the server's CSP can forbid inline script.
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const server = 'http://127.0.0.1:8080'

export default defineConfig({
  plugins: [react()],
  resolve: { conditions: ['@berth/source', 'module', 'browser', 'development|production'] },
  build: {
    target: 'es2024',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 800,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            // A language is a file of its own, of which the browser gets one.
            { name: 'words-en', test: /web\/src\/words\/en\// },
            { name: 'words-de', test: /web\/src\/words\/de\// },
            // What many screens share comes in two files, not in fifty; the rest with the screen that needs it.
            { name: 'libraries', test: /node_modules/, minShareCount: 6 },
            { name: 'common', test: /web\/src\/(api|messages|queries|ui)/, minShareCount: 4 },
          ],
        },
      },
    },
  },
  // The default settings of `npm start`; with it running, `npx vite` in this folder shows every change at once.
  server: { proxy: { '/api': server, '/consoles': { target: server, ws: true }, '/docs': server } },
})
