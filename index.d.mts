// What `import` sees: index.mjs. Everything is declared in index.d.ts.

import fairlane from './index.js'

export default fairlane

export declare const Queue: fairlane.QueueConstructor
export type Queue<P = any, R = any> = fairlane.Queue<P, R>

export declare const FairlaneError: fairlane.FairlaneErrorConstructor
export type FairlaneError = fairlane.FairlaneError

export declare const Throttled: fairlane.ThrottledConstructor
export type Throttled = fairlane.Throttled

export declare const Postponed: fairlane.PostponedConstructor
export type Postponed = fairlane.Postponed

export declare const backoff: fairlane.Fairlane['backoff']
export declare const batches: fairlane.Fairlane['batches']

export type {
  AcquireOptions,
  AddOptions,
  AsyncRunner,
  BackoffOptions,
  Batches,
  BatchesOptions,
  CallQueue,
  Callback,
  Clock,
  CloseOptions,
  Done,
  EitherOptions,
  ErrorCode,
  Explanation,
  Fairlane,
  FairlaneErrorConstructor,
  JobCancelled,
  JobContext,
  JobCounts,
  JobDone,
  JobEvent,
  JobFailed,
  JobProgress,
  JobRetry,
  Lane,
  LaneScheduler,
  MapOptions,
  MapSource,
  NewQueue,
  Observer,
  PlanOptions,
  PostponedConstructor,
  PromiseOptions,
  PromiseRunner,
  QueueConstructor,
  QueueCounts,
  QueueEvents,
  QueueOptions,
  QueueStats,
  Rate,
  Rates,
  RatesPerType,
  Reason,
  Runner,
  SchedulerName,
  SettleBy,
  Slot,
  ThrottledConstructor,
  TypeCounts,
  TypeStats,
  WaitingJob,
  WaitingTypes,
  WarningCode,
  WindowScheduler,
} from './index.js'
