import { setTimeout as sleep } from 'node:timers/promises'
import fairlane from 'fairlane'

for (const scheduler of [null, 'equal']) {
  const queue = fairlane(() => sleep(15), { concurrency: 4, scheduler })
  for (let i = 0; i < 400; i++) queue.pushType('noisy', i)

  await sleep(20)
  const begin = performance.now()
  await queue.add('report', { type: 'quiet' })
  console.log(`${scheduler ?? 'no scheduler'}: the quiet tenant is served after ${Math.round(performance.now() - begin)} ms`)
  await queue.onIdle()
}
// prints about:
// no scheduler: the quiet tenant is served after 1504 ms
// equal: the quiet tenant is served after 27 ms
