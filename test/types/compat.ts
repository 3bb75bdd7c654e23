// Programs written for the peers, with the facades in their place.

import quickq = require('fairlane/compat/quickq')
import fastq = require('fairlane/compat/fastq')
import async = require('fairlane/compat/async')
import type { done, queue, queueAsPromised } from 'fairlane/compat/fastq'

const jobs = quickq((job: string, done: (err?: unknown, length?: number) => void) => done(null, job.length), { concurrency: 3, scheduler: 'fair', mine: true })
jobs.pushType('a', 'job', (err, length) => length?.toFixed()).unshiftType('b', 'job', null).pause().resume(5).fflush(() => {})
jobs.enqueue('job').append('job').prepend('job')
jobs.drain = () => {}
const waiting: number = jobs.stats().waiting
new quickq(() => {}, '5')
quickq(() => {}, null)
// @ts-expect-error the payload is a string
jobs.push(1)

const tasks: queue<number, string> = fastq({ hello: 'world' }, function (task: number, cb: done<string>) { cb(null, this.hello) }, 1)
tasks.push(1, (err, result) => result?.trim())
tasks.saturated = () => {}
tasks.concurrency = 2
// @ts-expect-error read-only
tasks.paused = true
const promised: queueAsPromised<number, string> = fastq.promise(async (task: number) => String(task), 1)
const result: Promise<string> = promised.unshift(1)
const drained: Promise<void> = promised.drained()

const plain = async.queue<{ name: string }>((task, callback) => callback(null, task.name), 2)
plain.push({ name: 'a' }, (err, result) => {})
plain.push([{ name: 'a' }], err => err?.message)
const one: Promise<string> = plain.pushAsync<string>({ name: 'a' })
const many: Array<Promise<string>> = plain.unshift<string>([{ name: 'a' }])
plain.drain(() => {})
plain.error((error, task) => task.name)
const idle: Promise<void> = plain.drain()
plain.remove(({ data }) => data.name === 'a')
const names: string[] = [...plain].map(({ name }) => name)
// @ts-expect-error a number
plain.push(5)
async.priorityQueue(async (task: number) => task, 1).push(1, 5, (err, result) => {})
// @ts-expect-error no such member
async.priorityQueue(async (task: number) => task, 1).unshift(1)
async.cargo<number>((tasks, callback) => callback(null, tasks.length), 5).payload = 6
async.cargoQueue<number>((tasks, callback) => callback(null, tasks.length), 2, 5).push([1, 2])
