import { PersistentQueue } from 'fairlane/durable'
import type { PersistentQueueOptions, Reserved } from 'fairlane/durable'

async function use (): Promise<void> {
  const options: PersistentQueueOptions = { ack: 'os', capacity: 10, onProgress: ({ bytes, totalBytes }) => bytes / totalBytes }
  const queue = await PersistentQueue.open('folder', options)
  await queue.push(Buffer.from('one'))
  await queue.push([new Uint8Array(1), Buffer.from('two')])
  queue.pushSync(Buffer.from('three'))
  const popped: Buffer[] = [...await queue.pop(), ...queue.popSync(2), ...await queue.peek()]
  const reserved: Reserved[] = await queue.reserve(5)
  await queue.ack(reserved.map(({ id }) => id))
  queue.release(1)
  const bytes: number = queue.diskBytes() + queue.bytes + queue.length + queue.recovered.dropped.length + popped.length
  await queue.flush()
  await queue.close()
  await PersistentQueue.remove('folder')

  // @ts-expect-error a queue is opened
  new PersistentQueue()
  // @ts-expect-error no strings
  await queue.push('one')
  // @ts-expect-error no such mode
  await PersistentQueue.open('folder', { ack: 'never' })
  // @ts-expect-error read-only
  queue.length = bytes
}

export { use }
