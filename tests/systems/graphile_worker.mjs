// Graphile Worker.

import { createServer } from 'node:net'
import { library, main } from './harness.mjs'

const { version, module: { Logger, makeWorkerUtils, run } } = await library('graphile-worker')

const TASK = 'pay'

// Its own logger writes to stdout, where our lines go.
const logger = new Logger(() => (level, message) => {
  if (level !== 'debug') console.error(level, message.split('\n')[0])
})

async function using (url, act) {
  const utils = await makeWorkerUtils({ connectionString: url, logger })
  try {
    return await act(utils)
  } finally {
    await utils.release()
  }
}

await main({
  library: 'graphile-worker',
  version,

  async schema (pool) {
    const { rows } = await pool.query('SELECT max(id) AS id FROM graphile_worker.migrations')
    return String(rows[0].id)
  },

  async install (url) {
    await using(url, utils => utils.migrate())
  },

  // The stuck job holds the lock of a named queue beside its own. One try only where it has to stay failed.
  options: {
    stuck: { queueName: 'account-7' },
    timed_out: { maxAttempts: 1 },
    before: { maxAttempts: 1 }
  },

  // The library knows no time-out of a job: this is an HTTP client's, from a server that never answers.
  async timeOut () {
    const server = createServer().listen(0, '127.0.0.1')
    try {
      await new Promise(resolve => server.once('listening', resolve))
      await fetch(`http://127.0.0.1:${server.address().port}/charges`, { signal: AbortSignal.timeout(300) })
    } finally {
      server.close()
    }
  },

  async find (pool, job) {
    const { rows } = await pool.query(
      "SELECT id FROM graphile_worker._private_jobs WHERE payload->>'job' = $1 ORDER BY id DESC LIMIT 1", [job])
    return rows[0]?.id ?? null
  },

  // All times of the row, and the lock of its named queue. Two hours are less than the four after which
  // the library itself frees a lock, so no worker here changes the row.
  async age (pool, key) {
    const shifted = columns => columns.map(column => `${column} = ${column} - interval '2 hours'`)
    const { rows: [{ job_queue_id: queue }] } = await pool.query(
      `UPDATE graphile_worker._private_jobs SET ${shifted(['run_at', 'locked_at', 'created_at', 'updated_at'])}
       WHERE id = $1 RETURNING job_queue_id`, [key])
    await pool.query(`UPDATE graphile_worker._private_job_queues SET ${shifted(['locked_at'])} WHERE id = $1`, [queue])
  },

  // The library has no call that reads a job. The words are of its documentation.
  async state (url, pool, key) {
    const { rows: [row] } = await pool.query(
      `SELECT payload->>'job' AS job, CASE WHEN locked_at IS NOT NULL THEN 'locked'
                                           WHEN attempts >= max_attempts THEN 'permanently failed'
                                           ELSE 'available' END AS state
       FROM graphile_worker._private_jobs WHERE id = $1`, [key])
    return row ?? { state: 'gone' }
  },

  async enqueue (url, job, options) {
    return using(url, async utils => String((await utils.addJob(TASK, { job }, options)).id))
  },

  async waiting (pool) {
    const { rows } = await pool.query(
      `SELECT count(*)::int FROM graphile_worker._private_jobs AS jobs
       LEFT JOIN graphile_worker._private_job_queues AS queues ON queues.id = job_queue_id
       WHERE jobs.is_available AND run_at <= now() AND queues.is_available IS NOT FALSE`)
    return rows[0].count
  },

  async start (url, body) {
    const runner = await run({
      connectionString: url,
      concurrency: 1,
      pollInterval: 500,
      noHandleSignals: true,
      parsedCronItems: [],
      taskList: { [TASK]: ({ job }) => body(job) },
      logger
    })
    return { stop: () => runner.stop() }
  },

  // Of a job in a named queue the count is that of the queue's row, not of the job's.
  acknowledge: {
    statement: /delete from "?graphile_worker"?\._private_jobs/,
    landed: result => result.rowCount > 0
  }
})
