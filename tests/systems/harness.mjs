// The commands of tests/systems/README.md for libraries of Node. A system's script gives what differs:
//
//   library, version
//   schema(pool)      the version of the schema, which `install` has made
//   install(url)      makes the library's schema with its own installer
//   options           how to enqueue a case, by the case's name (`late` for the command of that name)
//   timeOut(pool)     what the body of `timed_out` does: runs until a time-out ends it
//   find(pool, job)   the newest row of a job, as the key unstuck prints, or null
//   age(pool, key, pid)  shifts the row's times, and those of the dead worker's rows, back by two hours
//   state(url, pool, key)  { state, job }: the library's word for the row, and the job's name
//   enqueue(url, job, options)  the new row's key
//   waiting(pool)     how many rows a worker could take now
//   start(url, body)  a real worker calling body(job); gives { stop() }, which lets a running body end
//   acknowledge       { statement, landed(result) }: the SQL that says "succeeded", and whether it changed the row

import { spawn } from 'node:child_process'
import { existsSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'

const LASTS = 10 * 60 * 1000
const PATIENCE = 30 * 1000
const UNDEFINED_TABLE = '42P01'

// Where package.json was installed: scripts live apart from their libraries, so plain imports cannot find them.
const installed = process.env.STANDINS_NODE ??
  join(dirname(fileURLToPath(import.meta.url)), '../../target/standins/node')
const resolve = createRequire(join(installed, 'package.json')).resolve

export async function library (name) {
  const { version } = JSON.parse(readFileSync(join(installed, 'node_modules', name, 'package.json')))
  return { version, module: await import(pathToFileURL(resolve(name))) }
}

const { Client, Pool } = (await library('pg')).module.default

export async function main (system) {
  const { positionals: [command, key], values } = parseArgs({
    allowPositionals: true,
    options: Object.fromEntries(['db', 'seconds', 'job', 'go', 'role'].map(name => [name, { type: 'string' }]))
  })
  const commands = { install, incident, work, state, late, facts, worker }
  let pool
  try {
    if (!Object.hasOwn(commands, command)) throw new Error(`no such command: ${command}`)
    pool = new Pool({ connectionString: values.db, max: 2 })
    await commands[command]({ system, pool, url: values.db, key, ...values })
  } catch (error) {
    console.error(String(error?.message || error).split('\n')[0])
    process.exitCode = 1
  } finally {
    await pool?.end()
  }
}

function print (line) {
  console.log(JSON.stringify(line))
}

async function facts ({ system, pool }) {
  const schema = await system.schema(pool).catch(error => {
    if (error.code !== UNDEFINED_TABLE) throw error
    return null
  })
  print({ library: system.library, version: system.version, schema })
}

async function install ({ system, pool, url }) {
  await system.install(url)
  await pool.query('CREATE TABLE effects (id serial PRIMARY KEY, job text NOT NULL, at timestamptz NOT NULL)')
}

async function incident (run) {
  const { system, pool, url } = run
  const put = job => system.enqueue(url, job, system.options[job])

  const stuck = await put('stuck')
  const dead = await kill(await begin(run, 'stuck'))
  await system.age(pool, stuck, dead.pid)
  print({ case: 'stuck', job: 'stuck', key: stuck })

  // The worker before this line is dead and the one after it does not live yet: the worker that ends
  // these three cannot take what is meant for another.
  for (const job of ['timed_out', 'before', 'done']) await put(job)
  await end(launch(run, 'ending'))
  for (const job of ['timed_out', 'before', 'done']) print({ case: job, job, key: await system.find(pool, job) })

  const fresh = await put('fresh')
  const { pid } = leave(await begin(run, 'fresh'))
  print({ case: 'fresh', job: 'fresh', key: fresh, pid })
}

async function late (run) {
  const { system, pool, url, job, go } = run
  if (!job || !go) throw new Error('late needs --job and --go')
  const key = await system.enqueue(url, job, system.options.late)
  const { pid } = leave(await begin(run, 'late', '--job', job, '--go', go))
  await system.age(pool, key)
  print({ key, pid })
}

async function state ({ system, pool, url, key, job }) {
  if (!key && !job) throw new Error('state needs a key or --job')
  const row = await system.state(url, pool, key ?? await system.find(pool, job))
  const name = job ?? row.job
  // A deleted row no longer tells its name: then only --job can say whose effects are meant.
  const effects = name && (await pool.query('SELECT count(*)::int FROM effects WHERE job = $1', [name])).rows[0].count
  print({ state: row.state, effects: effects ?? null })
}

async function work ({ system, pool, url, seconds = '10' }) {
  await runUntilIdle(system, pool, url, Number(seconds), async job => {
    print({ ran: job })
    await act(pool, job)
  })
}

// A worker's life as a process of its own, to be killed, left alone or waited for.
async function worker (run) {
  const { system, pool, url, role } = run
  if (role === 'ending') {
    return runUntilIdle(system, pool, url, PATIENCE / 1000, async job => {
      if (job === 'before') await connectionRefused()
      await act(pool, job)
      if (job === 'timed_out') await system.timeOut()
    })
  }
  setTimeout(() => process.exit(0), LASTS)
  if (role === 'late') return comeBackLate(run)
  await system.start(url, async job => {
    if (role === 'stuck') await act(pool, job)
    process.send('took it')
    await sleep(LASTS)
  })
  await sleep(LASTS)
}

async function comeBackLate ({ system, pool, url, job: mine, go }) {
  let answered, stopped
  const answer = new Promise(resolve => { answered = resolve })
  const { stop } = await system.start(url, async job => {
    if (job !== mine) throw new Error(`took ${job} instead of ${mine}`)
    await act(pool, job)
    process.send('took it')
    while (!existsSync(go)) await sleep(100)
    observe(system.acknowledge, answered)
    // Asked to stop before the body returns: it acknowledges this job and takes no other.
    stopped = stop()
  })
  const said = await answer
  await stopped
  writeFileSync(`${go}.part`, JSON.stringify(said) + '\n')
  renameSync(`${go}.part`, `${go}.done`)
  process.exit(0)
}

// What the library's own statement for "succeeded" did, seen where it leaves for the server: its
// workers do not tell.
function observe ({ statement, landed }, answered) {
  const query = Client.prototype.query
  Client.prototype.query = function (...args) {
    if (!statement.test(args[0].text ?? args[0])) return query.apply(this, args)
    const report = (error, result) => answered(error
      ? { acknowledged: false, error: error.message }
      : { acknowledged: landed(result), error: null })
    const last = args.at(-1)
    if (typeof last === 'function') {
      args[args.length - 1] = (error, result) => { report(error, result); last(error, result) }
      return query.apply(this, args)
    }
    const sent = query.apply(this, args)
    sent.then(result => report(null, result), report)
    return sent
  }
  setTimeout(answered, PATIENCE / 2, { acknowledged: false, error: 'the library made no acknowledge call' })
}

async function runUntilIdle (system, pool, url, seconds, body) {
  const until = Date.now() + seconds * 1000
  let running = 0
  const { stop } = await system.start(url, async job => {
    running++
    try { await body(job) } finally { running-- }
  })
  // Twice in a row, as a row just taken is neither waiting nor running yet.
  for (let idle = 0; idle < 2 && Date.now() < until; await sleep(300)) {
    idle = running || await system.waiting(pool) ? 0 : idle + 1
  }
  await stop()
}

async function act (pool, job) {
  await pool.query('INSERT INTO effects (job, at) VALUES ($1, now())', [job])
}

// Nothing listens on port 1.
function connectionRefused () {
  return new Promise((resolve, reject) => connect(1, '127.0.0.1').on('connect', resolve).on('error', reject))
}

// A session of its own, and none of this process's pipes: who reads those would wait for it.
function launch ({ url }, role, ...args) {
  const log = process.env.STANDIN_LOG ? openSync(process.env.STANDIN_LOG, 'a') : 'ignore'
  return spawn(process.execPath, [process.argv[1], 'worker', '--db', url, '--role', role, ...args], {
    detached: true,
    stdio: ['ignore', log, log, 'ipc']
  })
}

async function begin (run, role, ...args) {
  const child = launch(run, role, ...args)
  const late = AbortSignal.timeout(PATIENCE)
  await new Promise((resolve, reject) => {
    child.once('message', resolve)
    child.once('exit', () => reject(new Error(`the ${role} worker ended before it took its job; see STANDIN_LOG`)))
    late.addEventListener('abort', () => { child.kill('SIGKILL'); reject(new Error(`the ${role} worker took no job`)) })
  })
  return child
}

async function end (child) {
  const code = child.exitCode ?? await new Promise(resolve => child.once('exit', resolve))
  if (code !== 0) throw new Error(`a worker ended with ${code}; see STANDIN_LOG`)
}

async function kill (child) {
  const gone = new Promise(resolve => child.once('exit', resolve))
  child.kill('SIGKILL')
  await gone
  return child
}

function leave (child) {
  child.disconnect()
  child.unref()
  return child
}
