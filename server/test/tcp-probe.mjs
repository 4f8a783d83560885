// Connects to a port a hundred times a second until a stop file exists: node tcp-probe.mjs <address> <port> <prefix of files>
import { appendFileSync, existsSync } from 'node:fs'
import { connect } from 'node:net'

const [address, port, prefix] = process.argv.slice(2)
setInterval(() => {
  if (existsSync(`${prefix}stop`)) process.exit()
  appendFileSync(`${prefix}tries`, '.')
  const socket = connect(Number(port), address)
  socket.on('connect', () => appendFileSync(`${prefix}opened`, '!')).on('error', () => {})
  setTimeout(() => socket.destroy(), 300)
}, 10)
