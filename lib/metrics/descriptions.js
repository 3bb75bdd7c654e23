'use strict'

// What each metric is, in the words of its help text, wherever it is shown.

module.exports = {
  accepted: 'Jobs that the queue has accepted.',
  settled: 'Jobs that have settled, by state.',
  refused: 'Jobs that the queue has refused, by the code of the error.',
  cost: 'Units of cost charged to jobs whose runs have ended.',
  attempts: 'Attempts after which the job is tried again, by outcome.',
  joined: 'Jobs that share another job by its key, and so were not accepted.',
  jobs: 'Jobs by state: running counts the slots that are taken, and dead counts dead letters.',
  overdue: 'Runners that still hold a slot although their job has settled.',
  oldestWait: 'How long the next job has waited; 0 if none waits.',
  slots: 'How many jobs may run at once.',
  standstill: 'How long jobs have waited while none started or ended; 0 if there is no standstill.',
  held: 'Types with waiting jobs that rates and holds keep from starting.',
  fairness: 'How evenly slot time is shared, by weight: 1 is perfectly even.',
  starving: 'Types whose waiting jobs do not start, although other types are served.'
}
