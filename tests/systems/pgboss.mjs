// pg-boss 12, or the major version in the environment variable PGBOSS (10, 11, 12).

import { setTimeout as sleep } from 'node:timers/promises'
import { library, main } from './harness.mjs'

const major = process.env.PGBOSS ?? '12'
const { version, module } = await library(`pg-boss-${major}`)
const PgBoss = module.PgBoss ?? module.default

const QUEUE = 'payments'

// `supervise: false` leaves out the monitor, which would fail the stuck row on its first pass: it is
// the library's only rescue.
async function open (url) {
  const boss = new PgBoss({ connectionString: url, supervise: false, schedule: false })
  boss.on('error', error => console.error(error.message))
  await boss.start()
  return boss
}

async function using (url, act) {
  const boss = await open(url)
  try {
    return await act(boss)
  } finally {
    await boss.stop({ graceful: false })
  }
}

const parts = key => {
  const slash = key.lastIndexOf('/')
  return [key.slice(0, slash), key.slice(slash + 1)]
}

await main({
  library: 'pg-boss',
  version,

  async schema (pool) {
    const { rows } = await pool.query('SELECT version FROM pgboss.version')
    return String(rows[0].version)
  },

  async install (url) {
    await using(url, boss => boss.createQueue(QUEUE))
  },

  options: {
    timed_out: { retryLimit: 0, expireInSeconds: 1 },
    before: { retryLimit: 0 }
  },

  // pg-boss stops waiting for a body after the second that `expireInSeconds` gives it.
  async timeOut () {
    await sleep(2500)
  },

  async find (pool, job) {
    const { rows } = await pool.query(
      "SELECT name, id FROM pgboss.job WHERE data->>'job' = $1 ORDER BY created_on DESC LIMIT 1", [job])
    return rows.length ? `${rows[0].name}/${rows[0].id}` : null
  },

  // All times of the row. The lease is the row's own: started_on and the 15 minutes of expire_in or
  // expire_seconds. Of 12 only: heartbeat_on, and the dead process's row in `instance`.
  async age (pool, key, pid) {
    const shifted = (...columns) => columns.map(column => `${column} = ${column} - interval '2 hours'`)
    const times = shifted('created_on', 'start_after', 'started_on', 'keep_until', ...major === '12' ? ['heartbeat_on'] : [])
    await pool.query(`UPDATE pgboss.job SET ${times} WHERE name = $1 AND id = $2`, parts(key))
    if (major === '12') {
      await pool.query(`UPDATE pgboss.instance SET ${shifted('started_on', 'heartbeat_on')} WHERE pid = $1`, [pid])
    }
  },

  async state (url, pool, key) {
    const row = key && await using(url, boss => boss.getJobById(...parts(key), { includeArchive: true }))
    return row ? { state: row.state, job: row.data.job } : { state: 'gone' }
  },

  async enqueue (url, job, options) {
    return using(url, async boss => `${QUEUE}/${await boss.send(QUEUE, { job }, options)}`)
  },

  async waiting (pool) {
    const { rows } = await pool.query(
      "SELECT count(*)::int FROM pgboss.job WHERE state < 'active' AND start_after <= now()")
    return rows[0].count
  },

  async start (url, body) {
    const boss = await open(url)
    await boss.work(QUEUE, { pollingIntervalSeconds: 0.5 }, ([{ data }]) => body(data.job))
    return { stop: () => boss.stop() }
  },

  acknowledge: {
    statement: /UPDATE pgboss\.\w+\s+SET completed_on = \S+,\s+state = 'completed'/,
    landed: result => Number(result.rows[0].count) > 0
  }
})
