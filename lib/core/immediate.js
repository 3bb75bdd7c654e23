'use strict'

// Starts that do not wait for the next turn of the event loop: for facades whose originals start jobs inside push, or inside the end
// of another job.

/**
 * Starts what may start before it returns, at least one job per free slot. If the caller's code is on the stack it does nothing:
 * that refills the slots when it returns.
 */
function startNow (dispatch) {
  if (dispatch.isBusy) return
  dispatch.isBusy = dispatch.isCut = true
  dispatch.allowStarts()
  dispatch.fillOn()
  dispatch.pace.goOn()
  dispatch.notify()
}

/**
 * The end of a job starts others before it returns from now on, however long the turn has lasted. Only jobs that end inside their
 * runners, whose number has no limit, still wait for the next turn.
 */
function startPromptly (dispatch) {
  dispatch.isPrompt = true
}

module.exports = { startNow, startPromptly }
