// The commands of README.md for stand-ins of Node. A stand-in's script gives what differs:
//
//   name               among Node's packages
//   token              the secret with which it may be asked, or null
//   authorization      the header that carries it
//   start(port, package)  runs it on 127.0.0.1; gives { port, stop() } when it takes requests
//   seed(api)          makes the effects by its own API, and yields a `kase` for each reference
//   faults(api)        makes it misbehave, or says how to ask it amiss; yields a `fault` for each

import { readFileSync, writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'

const LASTS = 10 * 60 * 1000

// Where package.json was installed: scripts live apart from their libraries, so plain imports cannot find them.
const installed = resolve(process.env.PROVIDERS_NODE ??
  join(dirname(fileURLToPath(import.meta.url)), '../../target/providers/node'))
const folder = name => join(installed, 'node_modules', name)
export const load = createRequire(join(installed, 'package.json'))

// A package that can only be imported; `file` is its main one.
export const loadModule = (name, file) => import(pathToFileURL(join(folder(name), file)))

const print = line => writeSync(1, JSON.stringify(line) + '\n')

export async function main (standIn) {
  // Standard output is for the lines of the contract alone.
  for (const word of ['log', 'info', 'debug']) console[word] = console.error
  try {
    const { positionals: [command], values } = parseArgs({
      allowPositionals: true,
      options: { port: { type: 'string', default: '0' }, url: { type: 'string' } }
    })
    if (command === 'start') return await start(standIn, Number(values.port))
    if (!['seed', 'faults'].includes(command)) throw new Error(`no such command: ${command}`)
    if (!values.url) throw new Error(`${command} needs --url`)
    for await (const line of standIn[command](api(standIn, values.url))) print(line)
  } catch (error) {
    console.error(String(error?.message || error).split('\n')[0])
    process.exit(1)
  }
}

async function start (standIn, wanted) {
  const { port, stop } = await standIn.start(wanted)
  const end = async () => {
    await stop()
    process.exit(0)
  }
  process.once('SIGTERM', end)
  setTimeout(end, LASTS)
  const { version } = JSON.parse(readFileSync(join(folder(standIn.name), 'package.json')))
  print({
    url: `http://127.0.0.1:${port}`, token: standIn.token, stand_in: `${standIn.name} ${version}`, pid: process.pid
  })
}

// An HTTP server that is there, listening.
export async function listen (server, port) {
  await new Promise((resolve, reject) => server.listen(port, '127.0.0.1', resolve).once('error', reject))
  return {
    port: server.address().port,
    stop: () => {
      server.closeAllConnections()
      return new Promise(resolve => server.close(resolve))
    }
  }
}

function api (standIn, url) {
  const own = standIn.authorization ? { authorization: standIn.authorization } : {}

  // The answer, whatever its status is: status, headers and the JSON (or null).
  async function call (method, path, { form, json, body, headers } = {}) {
    const answer = await fetch(url.replace(/\/$/, '') + path, {
      method,
      headers: { ...own, ...(json && { 'content-type': 'application/json' }), ...headers },
      body: form ? new URLSearchParams(form) : json ? JSON.stringify(json) : body
    })
    const text = await answer.text()
    return { status: answer.status, headers: answer.headers, json: parsed(text) }
  }

  // As `call`; any status but the one that is wanted ends the script.
  async function must (wanted, method, path, what) {
    const answer = await call(method, path, what)
    if (answer.status !== wanted) throw new Error(`${method} ${path} answered ${answer.status} instead of ${wanted}`)
    return answer
  }
  return { url, call, must }
}

function parsed (text) {
  try { return JSON.parse(text) } catch { return null }
}

// What a look-up of one reference must come to. `money` is what the job meant: decimal text and currency.
export function kase (operation, reference, expect, ids, why, money) {
  const [amount, currency] = money ?? []
  const effects = { happened: 1, mismatch: 1, duplicated: ids.length }[expect] ?? 0
  return { operation, reference, expect, effects, ids, ...(money && { amount, currency }), why }
}

// A look-up that must come to `unknown`. `ask` is what to ask with instead: a path or a token.
export function fault (operation, reference, name, why, ask) {
  return { operation, reference, expect: 'unknown', fault: name, ...(ask && { ask }), why }
}
