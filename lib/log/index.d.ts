// Written by hand. What `fairlane/log` exports.

/** When a call is acknowledged: once the disk has the data, or once the operating system has it. */
export type Acknowledge = 'disk' | 'os'

/** Options of all queues on disk. */
export interface LogOptions {
  /**
   * How many payloads the queue may hold, including reserved ones; for a job queue, how many jobs, including dead letters. Further pushes are refused
   * with FAIRLANE_ERR_QUEUE_FULL.
   *
   * @default Infinity
   */
  capacity?: number | undefined

  /**
   * How many bytes of payload the queue may hold, including reserved ones; for a job queue, of payloads and types. Further pushes are refused with
   * FAIRLANE_ERR_QUEUE_FULL.
   *
   * @default Infinity
   */
  capacityBytes?: number | undefined

  /**
   * How many pushes may be written but not yet acknowledged. Further ones are copied, and written in their turn; `pushSync` throws
   * FAIRLANE_ERR_QUEUE_FULL instead.
   *
   * @default 1000
   */
  maxInflightOps?: number | undefined

  /**
   * When a call is acknowledged: `'disk'`, once the disk has the data, which then survive a power failure; `'os'`, once the operating system has them,
   * which survive only the end of the process.
   *
   * @default 'disk'
   */
  ack?: Acknowledge | undefined

  /**
   * The size in bytes of a *segment*, a file of the log, from 1024 to 1073741824. Disk space is freed segment by segment.
   *
   * @default 67108864
   */
  segmentBytes?: number | undefined

  /**
   * Whether to keep the undamaged parts of a damaged log instead of refusing to open it. `recovered.dropped` lists what was damaged.
   *
   * @default false
   */
  repair?: boolean | undefined

  /** Called after each file while the log is read. */
  onProgress?: ((progress: { bytes: number, totalBytes: number }) => void) | undefined
}

export interface PersistentQueueOptions extends LogOptions {}

/** A part of a file that was discarded. */
export interface Lost {
  /** The name of the file in the folder. */
  file: string
  offset: number
  bytes: number
}

/** What opening a queue found. */
export interface Recovered {
  /** The number of payloads. */
  jobs: number
  /** What a crash left half written, after everything that was synced. */
  cut: Lost | undefined
  /** What was damaged; only with `repair`. */
  dropped: Array<Lost & { what: string }>
}

export interface Reserved {
  id: number
  payload: Buffer
}

/** A first-in-first-out queue of bytes on disk. */
export class PersistentQueue {
  private constructor ()

  /** Opens the queue in a folder, which is created if it does not exist. Only one process may have it open. */
  static open (path: string, options?: PersistentQueueOptions): Promise<PersistentQueue>

  /** Removes a queue that nobody has open. */
  static remove (path: string): Promise<void>

  /** The number of unfinished payloads: waiting and reserved ones. */
  readonly length: number
  /** The bytes of unfinished payloads. */
  readonly bytes: number
  readonly recovered: Recovered

  /** Bytes of all segments. */
  diskBytes (): number

  /** Adds payloads at the end. After a crash, either all payloads of a call are there or none. Resolves when they are safe. */
  push (payloads: Uint8Array | readonly Uint8Array[]): Promise<void>
  /** Like `push`, blocking. */
  pushSync (payloads: Uint8Array | readonly Uint8Array[]): void

  /** Removes payloads from the front; `[]` if the queue is empty. */
  pop (max?: number): Promise<Buffer[]>
  /** Like `pop`, blocking. */
  popSync (max?: number): Buffer[]
  /** What `pop` would return, without removing it. */
  peek (max?: number): Promise<Buffer[]>

  /** Takes payloads from the front until they are finished by `ack` or put back by `release`. */
  reserve (max?: number): Promise<Reserved[]>
  /** Finishes reserved payloads. After a crash, either all payloads of a call are finished or none. */
  ack (ids: number | readonly number[]): Promise<void>
  /** Puts reserved payloads back where they were. */
  release (ids: number | readonly number[]): void

  /** Resolves when all calls up to now are on the disk. */
  flush (): Promise<void>
  /**
   * Acknowledges what was pushed, and releases the folder to other processes. Reserved payloads go back. Rejects with FAIRLANE_ERR_IO.
   */
  close (): Promise<void>
}
