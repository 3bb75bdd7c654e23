// What `import` sees: index.mjs. Everything is declared in index.d.ts.

import fairlane from './index.js'

export default fairlane

export declare const Queue: fairlane.QueueConstructor
export type Queue<P = any, R = any> = fairlane.Queue<P, R>

export declare const FairlaneError: fairlane.FairlaneErrorConstructor
export type FairlaneError = fairlane.FairlaneError

export type {
  AddOptions,
  AsyncRunner,
  CallQueue,
  Callback,
  Clock,
  CloseOptions,
  Done,
  EitherOptions,
  ErrorCode,
  Fairlane,
  FairlaneErrorConstructor,
  JobContext,
  Lane,
  LaneScheduler,
  MapOptions,
  MapSource,
  NewQueue,
  Observer,
  PromiseOptions,
  PromiseRunner,
  QueueConstructor,
  QueueEvents,
  QueueOptions,
  QueueStats,
  Runner,
  SchedulerName,
  SettleBy,
  WaitingJob,
  WaitingTypes,
  WarningCode,
  WindowScheduler,
} from './index.js'
