// Everything the browser needs comes from one folder of static files: nothing is inlined, so that the server's CSP can forbid inline script.
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { mantineStyles } from './build/mantine-styles.ts'
import { preloadFirstView } from './build/preload-first-view.ts'

const server = 'http://127.0.0.1:8080'

/** Of every view. */
const FRAMEWORK = /node_modules\/(react|react-dom|scheduler|use-sync-external-store|clsx|@tanstack\/[\w-]+)\//
/** Of dialogs, menus and inputs with a list: fetched ahead once the first view is there (ui/later). */
const OVERLAYS =
  /node_modules\/(@floating-ui|react-remove-scroll|react-remove-scroll-bar|react-style-singleton|use-sidecar|use-callback-ref|react-number-format|@mantine\/core\/esm\/components\/(Combobox|Drawer|Menu|Modal|ModalBase|NumberInput|Overlay|Pill|PillsInput|Popover|ScrollArea|Select|TagsInput|Tooltip))\//

export default defineConfig({
  plugins: [react(), mantineStyles, preloadFirstView],
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
            { name: 'words-en', test: /web\/src\/words\/en\/(?!audit-actions)/, priority: 4 },
            { name: 'words-de', test: /web\/src\/words\/de\/(?!audit-actions)/, priority: 4 },
            { name: 'framework', test: FRAMEWORK, priority: 3 },
            { name: 'overlays', test: OVERLAYS, priority: 2 },
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
