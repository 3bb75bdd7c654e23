import { createServer } from 'node:http'
import fairlane = require('fairlane')
import { board } from 'fairlane/board'
import type { Board, BoardOptions } from 'fairlane/board'
import { createBullBoard } from '@bull-board/api'
import { bullBoardQueue } from 'fairlane/board/bull-board'
import { distributed } from 'fairlane/distributed'
import { durable } from 'fairlane/durable'
import { History } from 'fairlane/history'
import { Metrics } from 'fairlane/metrics'

export async function use (serverAdapter: Parameters<typeof createBullBoard>[0]['serverAdapter']): Promise<void> {
  const metrics = new Metrics()
  const queue = fairlane(async (address: string) => address.length, { observers: metrics })
  const options: BoardOptions = {
    name: 'mails',
    metrics,
    history: new History(),
    readOnly: true,
    showPayloads: true,
    async onAction ({ action, queue, type, request }) { console.log(action, queue, type?.length, request.headers.authorization) }
  }
  const page: Board = board(queue, options)
  createServer(page)
  page.listen(3000)
  page.listen(3000, '127.0.0.1', () => {}).close()
  const onDisk = await durable(async (n: number) => n, { path: 'folder' })
  const atBroker = await distributed(async (n: number) => n, { name: 'mails', connection: [] })
  board(onDisk, { metrics })
  board(fairlane(async () => {}), { metrics })
  board(atBroker)
  board(queue)
  board({ mails: { queue, metrics }, images: { queue: onDisk, metrics, readOnly: true, showPayloads: true }, all: { queue: atBroker, onAction: console.log } })

  const history = new History()
  const adapters = [bullBoardQueue(queue, { name: 'mails', history }), bullBoardQueue(onDisk, { name: 'mails:a', history, type: 'a', readOnly: true })]
  createBullBoard({ queues: adapters, serverAdapter })

  // @ts-expect-error there are no records
  bullBoardQueue(queue, { name: 'mails' })
  // @ts-expect-error bull-board has an adapter of its own for queues at a broker
  bullBoardQueue(atBroker, { name: 'mails', history })
  // @ts-expect-error no such option
  board(queue, { metrics, readonly: true })
  // @ts-expect-error the options stand beside the queue
  board({ mails: queue })
}
