// Everything the browser needs comes from one folder of static files: nothing is inlined, so that the server's CSP can forbid inline script.
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { mantineStyles } from './build/mantine-styles.ts'
import { preloadFirstView } from './build/preload-first-view.ts'
import { wordsByTopic } from './build/words-by-topic.ts'

const server = 'http://127.0.0.1:8080'

/** Topics of the shell, of the shared parts, and of the first screens. */
const FIRST_WORDS = '(announcements|budgets|common|home|labels|lists|members|reverse-names|shell|statuses|steps|units|vms)'

/** Of every view. */
const FRAMEWORK = /node_modules\/(react|react-dom|scheduler|use-sync-external-store|clsx|@tanstack\/[\w-]+)\//
/** What the parts of the first view are made of, and all others too. */
const MANTINE =
  /node_modules\/@mantine\/(hooks|core\/esm\/(core|utils|components\/(ActionIcon|Alert|Anchor|Button|Checkbox|CloseButton|InlineInput|Input|InputBase|Loader|NativeSelect|Skeleton|Text|TextInput|Transition|UnstyledButton)))\//
/** Of dialogs, menus and inputs with a list: fetched ahead once the first view is there (ui/later). */
const OVERLAYS =
  /node_modules\/(@floating-ui|react-remove-scroll|react-remove-scroll-bar|react-style-singleton|use-sidecar|use-callback-ref|react-number-format|@mantine\/core\/esm\/components\/(Combobox|Drawer|Menu|Modal|ModalBase|NumberInput|Overlay|Pill|PillsInput|Popover|ScrollArea|Select|TagsInput|Tooltip))\//

export default defineConfig({
  plugins: [react(), mantineStyles, wordsByTopic, preloadFirstView],
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
            // The words of a language are two files, of which the first view needs one.
            ...['en', 'de'].flatMap((language) => [
              { name: `first-words-${language}`, test: new RegExp(`web/src/words/${language}/${FIRST_WORDS}\\.ts`), priority: 5 },
              { name: `words-${language}`, test: new RegExp(`web/src/words/${language}/(?!audit-actions)`), priority: 4 },
            ]),
            { name: 'framework', test: FRAMEWORK, priority: 3 },
            { name: 'mantine', test: MANTINE, priority: 2 },
            { name: 'overlays', test: OVERLAYS, priority: 1 },
            // What many screens share comes in two files, not in fifty; the rest with the screen that needs it.
            { name: 'libraries', test: /node_modules/, minShareCount: 6 },
            { name: 'common', test: /web\/src\/(api|messages|queries|ui)/, minShareCount: 4 },
          ],
        },
      },
    },
  },
  // The default settings of `npm start`; with it running, `npx vite` in this folder shows every change at once.
  server: { proxy: { '/api': server, '/branding': server, '/consoles': { target: server, ws: true }, '/docs': server } },
})
