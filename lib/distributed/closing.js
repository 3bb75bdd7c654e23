'use strict'

// How a distributed queue comes to its end in this process. Nothing is lost by it: pushes that are on their way are stored, what was
// taken and not begun goes back at once, and what runs is waited for, or goes back.

module.exports = { end }

/**
 * @param {object} parts broker, limits, worker, keeper, results, forgetting, scheduling
 * @param {{ stage: object, whenIdle: () => void, flush: () => Promise<void> }} queue whenIdle: called when no runner is waited for any more
 * @returns {Promise<number>} how many runners were abandoned
 */
async function end ({ broker, limits, worker, keeper, results, forgetting, scheduling }, { stage, whenIdle, flush }) {
  const returned = worker?.stop()
  const left = scheduling.stop()
  const slotsCount = await stage.close(true)
  // in some slots no runner was called: the broker is being asked for a job
  const abandonedCount = slotsCount - (worker?.askersCount ?? 0)
  whenIdle()
  worker?.endRuns()
  // a broker that is away is waited for as long as for a push
  const timer = setTimeout(() => broker.disconnect(), broker.pushTimeoutMs)
  await returned
  await left
  await worker?.whenTold()
  await flush()
  await keeper?.stop()
  await worker?.leave()
  await results.lookAtAll().catch(ignore)
  results.close()
  forgetting.stop()
  limits.stop()
  clearTimeout(timer)
  broker.disconnect()
  return abandonedCount
}

function ignore () {}
