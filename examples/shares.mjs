// Who gets the slots, where customers have users, and where some jobs cost more than others. It runs by a clock of its own that goes
// from one end of a job to the next, so it takes no time, and prints the same on each machine. npm start runs it.

import { setImmediate as turn } from 'node:timers/promises'
import { styleText } from 'node:util'
import fairlane from 'fairlane'
import { fakeClock } from 'fairlane/testing'

const COLOURS = { A: 'cyan', B: 'yellow' } // in a terminal
const BAR = 50 // characters of 100 %

console.log('\nCustomer A has 99 users, B has one, and each has more to do than fits.\nWho gets the slots?\n')
const users = [...Array.from({ length: 99 }, (_, i) => `A/user-${i}`), 'B/user']
show('equal', await play(users, () => 1, {}))
show('groupOf', await play(users, () => 1, { groupOf: type => type.split('/')[0] }))

console.log('A job of A costs 900 tokens, one of B costs 100, and they take as long.\nWho gets the tokens?\n')
const costOf = type => type === 'A' ? 900 : 100
show('equal', await play(['A', 'B'], costOf, {}))
show("chargeBy: 'cost'", await play(['A', 'B'], costOf, { chargeBy: 'cost' }))

/** Lets all types have jobs of 10 ms for a second. @returns {Promise<object>} what the jobs of each customer have cost in all */
async function play (types, costOf, schedulerOptions) {
  const clock = fakeClock()
  const got = { A: 0, B: 0 }
  const queue = fairlane((cost, done, { type }) => {
    clock.setTimeout(() => {
      got[type[0]] += cost
      done()
    }, 10)
  }, { concurrency: 4, scheduler: 'equal', schedulerOptions, clock })

  for (const type of types) for (let i = 0; i < 400; i++) queue.add(costOf(type), { type, cost: costOf(type) })
  while (clock.now() < 1000) {
    while (queue.running < queue.concurrency) await turn() // the queue fills its slots, in as many turns as it needs
    clock.next() // a job ends
  }
  return got // the clock stands still now, and with it the queue
}

function show (title, got) {
  for (const [customer, units] of Object.entries(got)) {
    const part = units / (got.A + got.B)
    const label = (customer === 'A' ? title : '').padEnd(18)
    const bar = styleText(COLOURS[customer], '█'.repeat(Math.round(part * BAR)).padEnd(BAR))
    console.log(`  ${label}${customer} ${bar} ${Math.round(part * 100)} %`)
  }
  console.log()
}
